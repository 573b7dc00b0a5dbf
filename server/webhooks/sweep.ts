import { sql } from 'drizzle-orm'
import type { Db } from '@/db/index'
import { systemContext } from '../context'
import type { Log } from '../log'
import { emit } from '../outbox'
import { isDue } from './deliver'

const BATCH = 500
/** How long deliveries that have ended are kept, for whoever looks for one. */
const KEEP_DAYS = 30

/** Has each endpoint tried again where a wait is over, or an event was lost; and deletes old deliveries. */
export async function sweepWebhooks({ db, log, now }: { db: Db; log: Log; now: () => Date }): Promise<{ due: number }> {
  const at = now().toISOString()
  const rows = await db.execute<{ tenantId: string; endpointId: string }>(sql`
    select e.tenant_id as "tenantId", e.id as "endpointId" from webhook_endpoints e
    where e.enabled and (e.leased_until is null or e.leased_until < ${at}::timestamptz)
      and exists (
        select from webhook_deliveries d
        where d.tenant_id = e.tenant_id and d.endpoint_id = e.id and ${isDue(now())})
    limit ${BATCH}`)
  for (const ref of rows) await emit(systemContext({ tenantId: ref.tenantId, db, log }), 'webhook/endpoint.due', ref)
  await db.execute(sql`
    delete from webhook_deliveries where (tenant_id, id) in (
      select tenant_id, id from webhook_deliveries
      where ended_at < ${at}::timestamptz - make_interval(days => ${KEEP_DAYS}) limit 5000)`)
  return { due: rows.length }
}
