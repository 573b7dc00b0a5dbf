import { and, eq, sql } from 'drizzle-orm'
import { events } from '@/db/schema/events'
import { authorize } from '../auth/policy'
import { type ServiceContext, withTransaction } from '../context'
import { AppError } from '../errors'
import { newId } from '../ids'
import { emit } from '../outbox'
import { parseInput } from '../parse'
import { PostEvent } from './schema'

/**
 * Stores an event for the runs that wait for it, now or within a week. An `id` makes posting it again safe.
 * @throws AppError INVALID_INPUT; CONFLICT if another event has the id
 */
export async function postEvent(ctx: ServiceContext, input: unknown) {
  authorize(ctx, 'event:post')
  const { name, key = null, data, id } = parseInput(PostEvent, input)
  const { tenantId } = ctx
  return withTransaction(ctx, async (tx) => {
    const eventId = id ?? newId('evt')
    const [row] = await tx.db
      .insert(events)
      .values({ tenantId, id: eventId, name, key, data, postedBy: ctx.actor.id, offeredAt: tx.now() })
      .onConflictDoNothing()
      .returning({ seq: events.seq })
    if (row) await emit(tx, 'workflow/event.posted', { tenantId, seq: row.seq })
    else if (!(await isSame(tx, eventId, { name, key, data })))
      throw new AppError('CONFLICT', {
        message: 'Another event has this id',
        details: [{ path: 'id', message: 'is taken' }],
      })
    return { success: true, eventId }
  })
}

async function isSame(
  ctx: ServiceContext,
  id: string,
  { name, key, data }: Pick<typeof events.$inferSelect, 'name' | 'key' | 'data'>,
) {
  const [found] = await ctx.db
    .select({
      same: sql<boolean>`${events.name} = ${name} and ${events.key} is not distinct from ${key}::text and ${events.data} = ${JSON.stringify(data)}::jsonb`,
    })
    .from(events)
    .where(and(eq(events.tenantId, ctx.tenantId), eq(events.id, id)))
  return found?.same === true
}
