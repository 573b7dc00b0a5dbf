import { and, asc, eq, gt, sql } from 'drizzle-orm'
import { webhookDeliveries, webhookEndpoints } from '@/db/schema/webhooks'
import { type Sweep, systemContext } from '../context'
import { dueTimer } from '../due-timer'
import { isFree } from '../leased-delivery'
import { emit } from '../outbox'
import { isDue } from './due'

const BATCH = 500
/** The minimum time between two checks of a process, however many messages are waiting. */
const APART_MS = 1_000

const timer = dueTimer('webhooks')

/** Makes this process, if it watches, retry a message when its wait ends. */
export const retryBy = timer.dueBy

/** Has the engine deliver to the endpoints with due messages. @returns the number of endpoints */
export async function tryDue({ db, log, now }: Sweep): Promise<number> {
  const rows = await db.execute<{ tenantId: string; endpointId: string }>(sql`
    select e.tenant_id as "tenantId", e.id as "endpointId" from webhook_endpoints e
    where e.enabled and ${isFree(sql`e.leased_until`, now())} and exists (
        select from webhook_deliveries d
        where d.tenant_id = e.tenant_id and d.endpoint_id = e.id and ${isDue(now())})
    limit ${BATCH}`)
  for (const ref of rows) await emit(systemContext({ tenantId: ref.tenantId, db, log }), 'webhook/endpoint.due', ref)
  return rows.length
}

/**
 * Makes this process retry messages when they are due. If it dies, the sweep of every minute does it.
 * @returns a function that stops it
 */
export function watchRetries(clock: Sweep): () => void {
  return timer.watch(async () => {
    try {
      const until = clock.now()
      await tryDue(clock)
      const next = await nextDue(clock, until)
      return next && new Date(Math.max(next.getTime(), until.getTime() + APART_MS))
    } catch (err) {
      clock.log.warn({ err }, 'could not look for messages that are due; the next sweep does it')
      return null
    }
  })
}

async function nextDue({ db }: Sweep, until: Date): Promise<Date | null> {
  const { tenantId, endpointId, status, dueAt } = webhookDeliveries
  const [found] = await db
    .select({ dueAt })
    .from(webhookDeliveries)
    .innerJoin(webhookEndpoints, and(eq(webhookEndpoints.tenantId, tenantId), eq(webhookEndpoints.id, endpointId)))
    .where(and(eq(status, 'pending'), gt(dueAt, until), eq(webhookEndpoints.enabled, true)))
    .orderBy(asc(dueAt))
    .limit(1)
  return found?.dueAt ?? null
}
