import { and, asc, eq, isNull, lt, sql } from 'drizzle-orm'
import { events } from '@/db/schema/events'
import { type Sweep, systemContext, withTransaction } from '../context'
import { emit } from '../outbox'
import { fairOrder } from '../query/fair-order'

const BATCH = 500
const DELETED = 5_000
const MAX_BATCHES = 20
const KEEP_MS = 7 * 24 * 3_600_000
/** By then its delivery has ended, or was lost. */
const OVERDUE_MS = 5 * 60_000

/** Redelivers lost events, and deletes events that are too old for any wait. */
export async function sweepEvents({ db, log, now }: Sweep): Promise<{ again: number; deleted: number }> {
  const before = (ms: number) => new Date(now().getTime() - ms)
  const lost = await db
    .select({ tenantId: events.tenantId, seq: events.seq })
    .from(events)
    .where(and(isNull(events.deliveredAt), lt(events.offeredAt, before(OVERDUE_MS))))
    .orderBy(fairOrder(events.tenantId, events.seq), asc(events.receivedAt))
    .limit(BATCH)
  for (const { tenantId, seq } of lost) {
    await withTransaction(systemContext({ tenantId, db, log, now }), async (tx) => {
      await tx.db
        .update(events)
        .set({ offeredAt: now() })
        .where(and(eq(events.tenantId, tenantId), eq(events.seq, seq)))
      await emit(tx, 'workflow/event.posted', { tenantId, seq })
    })
  }
  const old = sql`(${events.tenantId}, ${events.id}) in (
    select tenant_id, id from events where received_at < ${before(KEEP_MS).toISOString()}::timestamptz limit ${DELETED})`
  let deleted = 0
  for (let batch = 0; batch < MAX_BATCHES; batch++) {
    const gone = await db.delete(events).where(old).returning({ seq: events.seq })
    deleted += gone.length
    if (gone.length < DELETED) break
  }
  return { again: lost.length, deleted }
}
