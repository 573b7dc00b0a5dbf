import { type SQL, sql } from 'drizzle-orm'

/** Bucket boundaries are 10 % apart. */
const PER_E = 10
/** Powers of e, in ms: the last bucket begins after 800 years. */
const MAX = 24

/** The bucket of a duration between two moments. */
export function bucketOf(from: SQL, to: SQL): SQL {
  const ms = sql`greatest(1, extract(epoch from ${to} - ${from}) * 1000)::float8`
  return sql`width_bucket(ln(${ms}), 0, ${sql.raw(String(MAX))}, ${sql.raw(String(MAX * PER_E))})::smallint`
}

/** The upper bound of a bucket, in ms, exclusive. */
export function endOf(bucket: number): number {
  return Math.exp(bucket / PER_E)
}

/** Counts by bucket. */
export type Spread = Map<number, number>

export function addTo(spread: Spread, bucket: number, count: number): void {
  spread.set(bucket, (spread.get(bucket) ?? 0) + count)
}

/** The duration that this share of all counts does not exceed, in ms, at most 10 % too high; null without counts. */
export function percentile(spread: Spread, share: number): number | null {
  const total = [...spread.values()].reduce((sum, count) => sum + count, 0)
  if (total === 0) return null
  let seen = 0
  for (const [bucket, count] of [...spread].sort(([a], [b]) => a - b)) {
    seen += count
    if (seen >= total * share) return Math.ceil(endOf(bucket))
  }
  return null
}
