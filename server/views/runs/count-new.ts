import { and, sql } from 'drizzle-orm'
import { z } from 'zod'
import { runs } from '@/db/schema/runs'
import { authorize } from '../../auth/policy'
import type { ServiceContext } from '../../context'
import { parseInput } from '../../parse'
import { newerThan } from '../../runs/position'
import { positionIn, RunFilter, runsWhere } from './filter'

/** Stops counting here: the screen shows `99+`. */
const MAX = 100

export const CountNewRuns = RunFilter.extend({
  /** The `top` of a page; null for an empty page. */
  since: z.string().max(400).nullable(),
})
export type CountNewRuns = z.input<typeof CountNewRuns>

/**
 * Counts matching runs that started after the first one of a page, at most a hundred. Pages poll every few seconds, so
 * a text is not searched for in values.
 * @throws AppError INVALID_INPUT
 */
export async function countNewRuns(ctx: ServiceContext, input: unknown): Promise<{ count: number }> {
  authorize(ctx, 'run:read')
  const { since, ...filter } = parseInput(CountNewRuns, input)
  const newer = since === null ? undefined : newerThan(positionIn(since, 'since'))
  const where = await runsWhere(ctx, filter, { values: false })
  if (where === null) return { count: 0 }
  const found = ctx.db.select({ one: sql`1` }).from(runs).where(and(where, newer)).limit(MAX).as('found')
  const [row] = await ctx.db.select({ count: sql<number>`count(*)::int` }).from(found)
  return { count: row?.count ?? 0 }
}
