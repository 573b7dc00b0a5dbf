import { sql } from 'drizzle-orm'
import type { Sweep } from '../context'

const BATCH = 500

/** Enqueues webhook messages for each overdue task, once, in the commit that marks it as overdue. */
export async function sweepOverdue({ db, now }: Sweep): Promise<{ notified: number }> {
  const at = now().toISOString()
  const notified = await db.execute(sql`
    with late as (
      update pauses set overdue_at = ${at}::timestamptz where (tenant_id, run_id, id) in (
        select p.tenant_id, p.run_id, p.id from pauses p
        join runs r on r.tenant_id = p.tenant_id and r.id = p.run_id
        where p.answered_at is null and p.overdue_at is null and p.signal->>'dueAt' is not null
          and p.signal->>'dueAt' <= ${at} and r.outcome is null
        order by p.signal->>'dueAt' limit ${BATCH} for update of p skip locked)
      returning tenant_id, run_id, id)
    select enqueue_webhooks(tenant_id, run_id, id, 'task.overdue') from late`)
  return { notified: notified.length }
}
