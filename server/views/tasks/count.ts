import { sql } from 'drizzle-orm'
import { pauses, runs } from '@/db/schema/runs'
import { authorize } from '../../auth/policy'
import type { ServiceContext } from '../../context'
import { parseInput } from '../../parse'
import { CountTasks } from './schema'
import { ofRun, openTasks } from './where'

/** Stops counting here: the screen shows `1,000+`. */
const MOST = 1001

/**
 * How many tasks are waiting for a person; not exact beyond a thousand.
 * @throws AppError INVALID_INPUT
 */
export async function countTasks(ctx: ServiceContext, input: unknown): Promise<{ count: number; more: boolean }> {
  authorize(ctx, 'task:read')
  const filter = parseInput(CountTasks, input ?? {})
  const open = ctx.db
    .select({ one: sql`1` })
    .from(pauses)
    .innerJoin(runs, ofRun)
    .where(openTasks(ctx, filter))
    .limit(MOST)
    .as('open')
  const [row] = await ctx.db.select({ count: sql<number>`count(*)::int` }).from(open)
  const count = row?.count ?? 0
  return { count: Math.min(count, MOST - 1), more: count === MOST }
}
