import { sql } from 'drizzle-orm'
import type { Sweep } from '../context'
import { tryDue } from './retries'

/** How long an ended delivery is retained, and how long a delivery waits at a disabled endpoint. */
const KEEP_DAYS = 30

/**
 * Retries endpoints whose wait is over or whose event was lost; fails deliveries that have waited too long at a
 * disabled endpoint; and deletes old deliveries.
 */
export async function sweepWebhooks({ db, log, now }: Sweep): Promise<{ due: number }> {
  const at = now().toISOString()
  const due = await tryDue({ db, log, now })
  const old = sql`${at}::timestamptz - make_interval(days => ${KEEP_DAYS})`
  // At an enabled endpoint only the last attempt fails a delivery, so none is lost while no process runs for a month.
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
  return { due }
}
