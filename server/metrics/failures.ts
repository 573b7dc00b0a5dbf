import { sql } from 'drizzle-orm'
import { runs } from '@/db/schema/runs'
import { tenants } from '@/db/schema/tenants'
import { readsDatabase } from '../database'
import { log } from '../log'
import { failureClass } from '../telemetry/failure-classes'
import { cachedFor } from './cached-for'

const FRESH_MS = 30_000
const HOURS = 24
/** How many of a workspace's failed runs to examine, newest first, and how many of all. */
const MAX_OF_ONE = 1_000
const MAX = 20_000
/** How many classes and workspaces to name. */
const MAX_NAMED = 10

export interface Failures {
  classes: { name: string; runs: number }[]
  workspaces: { name: string; runs: number }[]
  /** More may exist, in some workspace or in all together. */
  atLeast: boolean
}

/** Why runs of the last day failed, in all workspaces; null if the database does not respond. */
export function readFailures(): Promise<Failures | null> {
  return cachedFor('metrics-failures', FRESH_MS, () =>
    read().catch((err: unknown) => {
      log().warn({ err }, 'the failures could not be counted')
      return null
    }),
  )
}

async function read(): Promise<Failures> {
  // By workspace, status and outcome, the leading columns of the index of unsuccessful runs.
  const rows = await readsDatabase().db.execute<{ id: string; name: string; code: string; runs: number }>(sql`
    select id, name, code, count(*)::int as runs from (
      select t.id, t.name, coalesce(f.code, '') as code
      from ${tenants} t cross join (values ('failed'), ('timed_out')) o(outcome) cross join lateral (
        select r.error ->> 'code' as code from ${runs} r
        where r.tenant_id = t.id and r.status = 'failed' and r.outcome = o.outcome
          and r.start_time > now() - make_interval(hours => ${HOURS})
        order by r.start_time desc limit ${MAX_OF_ONE}) f
      limit ${MAX}) failed
    group by 1, 2, 3`)
  return failuresOf(rows)
}

/** Counts by workspace and code, by class and by workspace. */
export function failuresOf(rows: readonly { id: string; name: string; code: string; runs: number }[]): Failures {
  const classes = new Map<string, number>()
  const workspaces = new Map<string, { name: string; runs: number }>()
  for (const { id, name, code, runs } of rows) {
    const known = failureClass(code)
    classes.set(known, (classes.get(known) ?? 0) + runs)
    workspaces.set(id, { name, runs: (workspaces.get(id)?.runs ?? 0) + runs })
  }
  return {
    classes: mostFirst([...classes].map(([name, runs]) => ({ name, runs }))),
    workspaces: mostFirst([...workspaces.values()]),
    atLeast:
      rows.reduce((sum, { runs }) => sum + runs, 0) >= MAX ||
      [...workspaces.values()].some(({ runs }) => runs >= MAX_OF_ONE),
  }
}

function mostFirst(counts: { name: string; runs: number }[]): { name: string; runs: number }[] {
  return counts.sort((a, b) => b.runs - a.runs || (a.name < b.name ? -1 : 1)).slice(0, MAX_NAMED)
}
