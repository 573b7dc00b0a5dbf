import { sql } from 'drizzle-orm'
import { type Sweep, systemContext } from '../context'
import { emit } from '../outbox'
import { isDue } from './deliver'

const BATCH = 500
/** How long a delivery that has ended is kept, and how long one waits for a disabled endpoint to be enabled. */
const KEEP_DAYS = 30

/**
 * Tries endpoints again whose delay is over, or whose event was lost; fails deliveries that have waited too long at a
 * disabled endpoint; and deletes old deliveries.
 */
export async function sweepWebhooks({ db, log, now }: Sweep): Promise<{ due: number }> {
  const at = now().toISOString()
  const rows = await db.execute<{ tenantId: string; endpointId: string }>(sql`
    select e.tenant_id as "tenantId", e.id as "endpointId" from webhook_endpoints e
    where e.enabled and (e.leased_until is null or e.leased_until < ${at}::timestamptz)
      and exists (
        select from webhook_deliveries d
        where d.tenant_id = e.tenant_id and d.endpoint_id = e.id and ${isDue(now())})
    limit ${BATCH}`)
  for (const ref of rows) await emit(systemContext({ tenantId: ref.tenantId, db, log }), 'webhook/endpoint.due', ref)
  const old = sql`${at}::timestamptz - make_interval(days => ${KEEP_DAYS})`
  // At an enabled endpoint its last try ends a message, so none is lost while no process runs for a month.
  await db.execute(sql`
    update webhook_deliveries set status = 'failed', ended_at = ${at}::timestamptz where (tenant_id, id) in (
      select d.tenant_id, d.id from webhook_deliveries d
      join webhook_endpoints e on e.tenant_id = d.tenant_id and e.id = d.endpoint_id
      where d.status = 'pending' and d.due_at < ${old} and not e.enabled
      limit 5000 for update of d skip locked)`)
  await db.execute(sql`
    delete from webhook_deliveries where (tenant_id, id) in (
      select tenant_id, id from webhook_deliveries
      where ended_at < ${old} limit 5000)`)
  return { due: rows.length }
}
