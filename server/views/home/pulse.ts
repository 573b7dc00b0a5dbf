import { and, eq, gte, ne, sql } from 'drizzle-orm'
import { runs } from '@/db/schema/runs'
import { authorize } from '../../auth/policy'
import type { ServiceContext } from '../../context'
import { type RunState, stateOf } from '../runs/filter'

const DAY_MS = 24 * 60 * 60_000
/** Stops counting here: the screen shows `10,000+`. */
const MAX = 10_001

export interface Pulse {
  /** Runs started in the last 24 hours, by their current state. */
  counts: Partial<Record<RunState, number>>
  /** False if the count stopped at its limit. */
  exact: boolean
  /** The start of the period. */
  since: string
}

/** The runs of the last 24 hours, without tests of drafts. */
export async function readPulse(ctx: ServiceContext): Promise<Pulse> {
  authorize(ctx, 'run:read')
  const since = new Date(ctx.now().getTime() - DAY_MS)
  const day = ctx.db
    .select({ status: runs.status, outcome: runs.outcome })
    .from(runs)
    .where(and(eq(runs.tenantId, ctx.tenantId), gte(runs.startTime, since), ne(runs.startedVia, 'test')))
    .limit(MAX)
    .as('day')
  const rows = await ctx.db
    .select({ status: day.status, outcome: day.outcome, count: sql<number>`count(*)::int` })
    .from(day)
    .groupBy(day.status, day.outcome)
  const total = rows.reduce((sum, { count }) => sum + count, 0)
  const counts = Object.fromEntries(rows.map((row) => [stateOf(row), row.count]))
  return { counts, exact: total < MAX, since: since.toISOString() }
}
