import { type SQL, sql } from 'drizzle-orm'

/** Bucket boundaries are 10 % apart. */
const PER_E = 10
/** Powers of e, in ms: the last bucket begins after 800 years. */
const MAX = 24

/** The duration between two moments, in ms, at least 1. */
function msBetween(from: SQL, to: SQL): SQL {
  return sql`greatest(1, extract(epoch from ${to} - ${from}) * 1000)::float8`
}

/** The bucket of a duration between two moments. */
export function bucketOf(from: SQL, to: SQL): SQL {
  const ms = msBetween(from, to)
  return sql`width_bucket(ln(${ms}), 0, ${sql.raw(String(MAX))}, ${sql.raw(String(MAX * PER_E))})::smallint`
}

/** The longest duration among the counted ones of a bucket. */
export function longestOf(from: SQL, to: SQL): SQL {
  return sql`max(${msBetween(from, to)})`
}

/** The upper bound of a bucket, in ms, exclusive. */
export function endOf(bucket: number): number {
  return Math.exp(bucket / PER_E)
}

/** Counts by bucket, with the longest duration in it, in ms; null where an earlier version counted. */
export type Spread = Map<number, { count: number; longest: number | null }>

export function addTo(spread: Spread, bucket: number, count: number, longest: number | null): void {
  const known = spread.get(bucket)
  if (!known) spread.set(bucket, { count, longest })
  else {
    known.count += count
    known.longest = known.longest === null || longest === null ? null : Math.max(known.longest, longest)
  }
}

/**
 * The duration that this share of all counts does not exceed, in ms, at most 10 % too high and never above the longest;
 * null without counts.
 */
export function percentile(spread: Spread, share: number): number | null {
  const total = [...spread.values()].reduce((sum, { count }) => sum + count, 0)
  if (total === 0) return null
  let seen = 0
  for (const [bucket, { count, longest }] of [...spread].sort(([a], [b]) => a - b)) {
    seen += count
    if (seen >= total * share) return longest === null ? Math.ceil(endOf(bucket)) : Math.round(longest)
  }
  return null
}
