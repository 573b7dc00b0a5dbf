import { sql } from 'drizzle-orm'
import { type Sweep, systemContext } from '../context'
import { env } from '../env'
import { isFree } from '../leased-delivery'
import { emit } from '../outbox'

const BATCH = 500
const KEEP_DAYS = 30
/** A mail that waited this long, for example without a mail server, is obsolete. */
const STALE_DAYS = 3

/** Sends due mails, and those whose event was lost; drops stale ones, and deletes old rows. */
export async function sweepMails({ db, log, now }: Sweep): Promise<{ due: number }> {
  const at = now().toISOString()
  const before = (days: number) => sql`${at}::timestamptz - make_interval(days => ${days})`
  await db.execute(sql`
    update task_mails set status = 'dropped', reason = 'It could not be sent in time.', ended_at = ${at}::timestamptz
    where (tenant_id, id) in (
      select tenant_id, id from task_mails where status = 'pending' and due_at < ${before(STALE_DAYS)}
      limit 5000 for update skip locked)`)
  await db.execute(sql`
    delete from task_mails where (tenant_id, id) in (
      select tenant_id, id from task_mails where ended_at < ${before(KEEP_DAYS)} limit 5000)`)
  if (!env().SMTP_URL) return { due: 0 }
  const rows = await db.execute<{ tenantId: string; mailId: string }>(sql`
    select tenant_id as "tenantId", id as "mailId" from task_mails
    where status = 'pending' and due_at <= ${at}::timestamptz and ${isFree(sql`leased_until`, now())}
    order by due_at limit ${BATCH}`)
  for (const ref of rows) await emit(systemContext({ tenantId: ref.tenantId, db, log }), 'mail/task.due', ref)
  return { due: rows.length }
}
