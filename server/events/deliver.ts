import { and, asc, eq, inArray, isNotNull, isNull, sql } from 'drizzle-orm'
import { isUnavailable } from '@/db/index'
import { events } from '@/db/schema/events'
import { pauses } from '@/db/schema/runs'
import { forEachAtOnce } from '@/lib/for-each-at-once'
import type { ServiceContext } from '../context'
import { spellings } from '../definition/spellings'
import { lookForEvents } from '../interpreter/index'

const BATCH = 500
const AT_ONCE = 4

/** An event's progress: through the waits for its key, and then through those for any. */
export interface Cursor {
  keyed: boolean
  after: { at: string; runId: string; id: string } | null
  /** Whether a wait could not be checked, so the event is redelivered later. */
  failed: boolean
}

/**
 * Checks the next runs that wait for an event, the longest wait first. It may restart from any cursor: a run that has
 * taken the event no longer waits.
 * @param seq the event's number
 * @returns the next cursor; null once all have been checked
 * @throws if the database is unavailable
 */
export async function deliverEvent(ctx: ServiceContext, seq: number, cursor: Cursor | null): Promise<Cursor | null> {
  const { tenantId } = ctx
  const which = and(eq(events.tenantId, tenantId), eq(events.seq, seq), isNull(events.deliveredAt))
  const [event] = await ctx.db.select().from(events).where(which)
  if (!event) return null
  const { keyed, after } = cursor ?? { keyed: event.key !== null, after: null }
  let failed = cursor?.failed ?? false
  const at = sql`(${pauses.createdAt}, ${pauses.runId}, ${pauses.id})`
  const waits = await ctx.db
    .select({ tenantId: pauses.tenantId, runId: pauses.runId, id: pauses.id, createdAt: pauses.createdAt })
    .from(pauses)
    .where(
      and(
        eq(pauses.tenantId, tenantId),
        isNotNull(pauses.eventName),
        eq(pauses.eventName, event.name),
        keyed ? inArray(pauses.eventKey, spellings(event.key ?? '')) : isNull(pauses.eventKey),
        isNull(pauses.answeredAt),
        after ? sql`${at} > (${after.at}::timestamptz, ${after.runId}, ${after.id})` : undefined,
      ),
    )
    .orderBy(asc(pauses.createdAt), asc(pauses.runId), asc(pauses.id))
    .limit(BATCH)
  const last = waits.at(-1)
  await forEachAtOnce(waits, AT_ONCE, (wait) =>
    lookForEvents(ctx, wait, { delivered: event }).catch((err: unknown) => {
      // The whole batch is retried soon.
      if (isUnavailable(err)) throw err
      failed = true
      ctx.log.error({ err, runId: wait.runId, pauseId: wait.id }, 'could not check whether an event matches a wait')
    }),
  )
  if (last && waits.length === BATCH)
    return { keyed, after: { at: last.createdAt.toISOString(), runId: last.runId, id: last.id }, failed }
  if (keyed) return { keyed: false, after: null, failed }
  // If one wait cannot be checked, the others still are; the sweep redelivers the event.
  if (!failed) await ctx.db.update(events).set({ deliveredAt: ctx.now() }).where(which)
  return null
}
