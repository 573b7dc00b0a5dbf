import { type SQL, sql } from 'drizzle-orm'
import { pauses } from '@/db/schema/runs'
import { authorize } from '../../auth/policy'
import type { ServiceContext } from '../../context'
import { parseInput } from '../../parse'
import { runOf } from '../../run-store/conditions'
import { personOf } from '../../runs/person'
import { CountTasks } from './schema'
import { isMine, isOfRole, openTasks } from './where'

/** Stops counting here: the screen shows `1,000+`. */
const MAX = 1001
/** How many open tasks to search for the caller's. */
const MAX_SEARCHED = 5001

/** A number of tasks; `more` if the count stopped at its limit. */
export interface TaskCount {
  count: number
  more: boolean
}

/**
 * How many tasks are waiting for a person; not exact beyond a thousand.
 * @throws AppError INVALID_INPUT
 */
export async function countTasks(ctx: ServiceContext, input: unknown): Promise<TaskCount> {
  authorize(ctx, 'task:read')
  const filter = parseInput(CountTasks, input ?? {})
  const open = ctx.db
    .select({ one: sql`1` })
    .from(pauses)
    .innerJoinLateral(runOf(pauses), sql`true`)
    .where(openTasks(ctx, filter))
    .limit(MAX)
    .as('open')
  const [row] = await ctx.db.select({ count: sql<number>`count(*)::int` }).from(open)
  return atMost(row?.count ?? 0, false)
}

/**
 * How many tasks each view of the inbox has. Searches the first 5,000 open ones for the caller's, because each must be
 * checked.
 * @throws AppError INVALID_INPUT
 */
export async function countViews(ctx: ServiceContext, input: unknown) {
  authorize(ctx, 'task:read')
  const filter = parseInput(CountTasks, input ?? {})
  const person = await personOf(ctx)
  const is = (one: SQL | undefined) => sql<boolean>`${one}`
  const open = ctx.db
    .select({ mine: is(isMine(person)).as('mine'), roles: is(isOfRole(person)).as('roles') })
    .from(pauses)
    .innerJoinLateral(runOf(pauses), sql`true`)
    .where(openTasks(ctx, filter))
    .limit(MAX_SEARCHED)
    .as('open')
  const [row] = await ctx.db
    .select({
      open: sql<number>`count(*)::int`,
      mine: sql<number>`count(*) filter (where ${open.mine})::int`,
      roles: sql<number>`count(*) filter (where ${open.roles})::int`,
    })
    .from(open)
  const { open: all, mine, roles } = row ?? { open: 0, mine: 0, roles: 0 }
  const more = all === MAX_SEARCHED
  return { open: atMost(all, more), mine: atMost(mine, more), roles: atMost(roles, more) }
}

function atMost(count: number, more: boolean): TaskCount {
  return { count: Math.min(count, MAX - 1), more: more || count >= MAX }
}
