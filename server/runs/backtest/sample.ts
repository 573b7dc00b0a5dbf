import { type SQL, sql } from 'drizzle-orm'
import type { z } from 'zod'
import { runs, stepRecords } from '@/db/schema/runs'
import type { ServiceContext } from '../../context'
import { MAIN_BRANCH } from '../../run-store/names'
import { continuedElsewhere } from '../../workflows/replay/continued'
import type { BacktestSample } from './schema'

/** The sample is taken from this many runs, the newest ones. */
export const NEWEST_OF = 5_000
/** Runs whose ways part only later count as alike. */
const LONGEST_PATH = 200

interface Candidate {
  id: string
  stratum: string
}

/** A sample of past runs, newest first. */
export interface Sample {
  sampled: {
    runs: number
    /** The runs that it was taken from, at most `newestOf`. */
    of: number
    newestOf: number
    /** How many kinds of runs there are: by outcome, error and path. */
    strata: number
  }
  /** With the number of those runs for which each stands. */
  runs: { id: string; standsFor: number }[]
}

type Wanted = Omit<z.output<typeof BacktestSample>, 'version'>

/**
 * Chooses past runs of a workflow. Each kind of run is in it, as far as there is room, the largest first; the rest is
 * divided by the square roots of their numbers, so that rare kinds count more than their share. Without test runs,
 * and those whose first steps ran on another version.
 */
export async function sampleOf(ctx: ServiceContext, workflowId: string, wanted: Wanted): Promise<Sample> {
  const rows = await ctx.db.execute<{ id: string; stratum: string }>(candidates(ctx, workflowId, wanted))
  return sampleIn([...rows], wanted.runs)
}

/** @param candidates newest first */
export function sampleIn(candidates: readonly Candidate[], most: number): Sample {
  const strata = new Map<string, string[]>()
  for (const { id, stratum } of candidates) {
    const known = strata.get(stratum)
    if (known) known.push(id)
    else strata.set(stratum, [id])
  }
  const all = [...strata.values()].toSorted((a, b) => b.length - a.length)
  const shares = sharesOf(
    all.map(({ length }) => length),
    most,
  )
  const standsFor = new Map<string, number>()
  for (const [at, ids] of all.entries()) {
    const share = shares[at] ?? 0
    for (const id of ids.slice(0, share)) standsFor.set(id, ids.length / share)
  }
  const chosen = candidates.flatMap(({ id }) => {
    const many = standsFor.get(id)
    return many === undefined ? [] : [{ id, standsFor: many }]
  })
  const sampled = { runs: chosen.length, of: candidates.length, newestOf: NEWEST_OF, strata: all.length }
  return { sampled, runs: chosen }
}

/** @param sizes of the strata, the largest first */
function sharesOf(sizes: readonly number[], most: number): number[] {
  const shares: number[] = sizes.map((_, at) => (at < most ? 1 : 0))
  for (let left = most - sizes.length; left > 0; left--) {
    let best = -1
    let bestClaim = 0
    for (const [at, size] of sizes.entries()) {
      const share = shares[at] ?? 0
      const claim = share < size ? Math.sqrt(size) / share : 0
      if (claim > bestClaim) [best, bestClaim] = [at, claim]
    }
    if (best < 0) break
    shares[best] = (shares[best] ?? 0) + 1
  }
  return shares
}

function candidates({ tenantId }: ServiceContext, workflowId: string, { of, cause, from, to }: Wanted): SQL {
  const outcomes = of === 'failed' ? sql`('failed', 'timed_out')` : sql`('succeeded', 'failed', 'timed_out')`
  const conditions: SQL[] = [
    sql`r.tenant_id = ${tenantId} and r.workflow_id = ${workflowId} and r.outcome in ${outcomes}`,
    sql`r.started_via <> 'test' and r.part is null and not ${continuedElsewhere(tenantId)}`,
    ...(cause
      ? [sql`r.error ->> 'code' = ${cause.code} and r.error ->> 'stepId' is not distinct from ${cause.stepId}`]
      : []),
    ...(from ? [sql`r.start_time >= ${from}::timestamptz`] : []),
    ...(to ? [sql`r.start_time < ${to}::timestamptz`] : []),
  ]
  return sql`
    select newest.id, concat_ws(' ', newest.outcome, newest.code, newest.at, md5(p.path)) as stratum from (
      select r.id, r.outcome, r.error ->> 'code' as code, r.error ->> 'stepId' as at, r.workflow_version, r.start_time
      from ${runs} r where ${sql.join(conditions, sql` and `)}
      order by r.workflow_version desc, r.start_time desc limit ${NEWEST_OF}) newest
    cross join lateral (
      select string_agg(s.step_id || ':' || coalesce(s.exit, ''), '>' order by s.seq) as path from (
        select step_id, exit, seq from ${stepRecords} s
        where s.tenant_id = ${tenantId} and s.run_id = newest.id and s.branch = ${MAIN_BRANCH}
        order by s.seq limit ${LONGEST_PATH}) s) p
    order by newest.workflow_version desc, newest.start_time desc`
}
