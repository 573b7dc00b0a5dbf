import { sql } from 'drizzle-orm'
import { runs } from '@/db/schema/runs'
import { authorize } from '../../auth/policy'
import type { ServiceContext } from '../../context'
import { parseInput } from '../../parse'
import { newestFirst, RunFilter, type RunState, runsWhere, stateOf } from './filter'

/** Stops counting here: the screen shows `10,000+`. */
const MAX = 10_000

/** How many runs match a filter, in total and by state. */
export interface RunTotals {
  count: number
  /** More runs match; the newest were counted. */
  more: boolean
  states: Partial<Record<RunState, number>>
}

/** @throws AppError INVALID_INPUT */
export async function countRuns(ctx: ServiceContext, input: unknown): Promise<RunTotals> {
  authorize(ctx, 'run:read')
  const where = await runsWhere(ctx, parseInput(RunFilter, input))
  if (where === null) return { count: 0, more: false, states: {} }
  const found = ctx.db
    .select({ status: runs.status, outcome: runs.outcome })
    .from(runs)
    .where(where)
    .orderBy(...newestFirst)
    .limit(MAX + 1)
    .as('found')
  const rows = await ctx.db
    .select({ status: found.status, outcome: found.outcome, count: sql<number>`count(*)::int` })
    .from(found)
    .groupBy(found.status, found.outcome)
  const states: RunTotals['states'] = {}
  let count = 0
  for (const row of rows) {
    const state = stateOf(row)
    states[state] = (states[state] ?? 0) + row.count
    count += row.count
  }
  return { count: Math.min(count, MAX), more: count > MAX, states }
}
