import { sql } from 'drizzle-orm'
import type { Sweep } from '../context'

/** Per workspace and in total: the sweep of the next minute deletes the rest. */
const BATCH = 1_000
const MAX = 5_000

/** Deletes the entries beyond their workspaces' retention. */
export async function sweepAudit({ db, now }: Sweep): Promise<{ deleted: number }> {
  const at = now().toISOString()
  const gone = await db.execute(sql`
    delete from audit_entries where (tenant_id, id) in (
      select old.tenant_id, old.id from tenants t
      cross join lateral (
        select a.tenant_id, a.id from audit_entries a
        where a.tenant_id = t.id and a.at < ${at}::timestamptz - make_interval(days => t.keep_audit_days)
        order by a.at, a.seq limit ${BATCH}) old
      limit ${MAX})
    returning 1`)
  return { deleted: gone.length }
}
