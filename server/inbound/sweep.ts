import { sql } from 'drizzle-orm'
import type { Sweep } from '../context'

const BATCH = 5_000
const KEEP_DAYS = 30

/** Deletes old deliveries. A repetition after that counts as new. */
export async function sweepInbound({ db, now }: Sweep): Promise<{ deleted: number }> {
  const at = now().toISOString()
  const gone = await db.execute(sql`
    delete from inbound_deliveries where (tenant_id, id) in (
      select tenant_id, id from inbound_deliveries
      where created_at < ${at}::timestamptz - make_interval(days => ${KEEP_DAYS})
      order by created_at limit ${BATCH})
    returning 1`)
  return { deleted: gone.length }
}
