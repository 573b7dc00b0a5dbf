import { and, asc, isNull, lt, sql } from 'drizzle-orm'
import { events } from '@/db/schema/events'
import { type Sweep, systemContext } from '../context'
import { emit } from '../outbox'

const BATCH = 500
const KEEP_MS = 7 * 24 * 3_600_000
/** By then its delivery has ended, or was lost. */
const OVERDUE_MS = 2 * 60_000

/** Delivers again what was lost on its way, and deletes events that are too old for any wait. */
export async function sweepEvents({ db, log, now }: Sweep): Promise<{ again: number; deleted: number }> {
  const before = (ms: number) => new Date(now().getTime() - ms)
  // In turns, so that no tenant's events keep those of another from it.
  const turn = sql`row_number() over (partition by ${events.tenantId} order by ${events.seq})`
  const lost = await db
    .select({ tenantId: events.tenantId, seq: events.seq })
    .from(events)
    .where(and(isNull(events.deliveredAt), lt(events.receivedAt, before(OVERDUE_MS))))
    .orderBy(turn, asc(events.receivedAt))
    .limit(BATCH)
  for (const ref of lost) await emit(systemContext({ tenantId: ref.tenantId, db, log }), 'workflow/event.posted', ref)
  const old = sql`(${events.tenantId}, ${events.id}) in (
    select tenant_id, id from events where received_at < ${before(KEEP_MS).toISOString()}::timestamptz limit 5000)`
  const deleted = await db.delete(events).where(old).returning({ seq: events.seq })
  return { again: lost.length, deleted: deleted.length }
}
