import { sql } from 'drizzle-orm'
import { runs } from '@/db/schema/runs'
import { messages, threads, threadTurns } from '@/db/schema/threads'
import { agentTurns } from '@/db/schema/turns'
import type { Sweep } from '../../context'

const BATCH = 200
/** Longer than a step waits before it tries again, when no row says that it is about to speak. */
const UNUSED_MS = 2 * 86_400_000

/**
 * Removes threads that were made for a message whose run ended without an answer, if nothing else was said in them and
 * nobody has begun to speak in them of late. The turn stays; until then a retry finds the files of the message. Who comes
 * during this draws a ticket, which changes the thread's row.
 * @returns how many
 */
export async function deleteUnusedThreads({ db, now }: Sweep): Promise<number> {
  const before = sql`${new Date(now().getTime() - UNUSED_MS).toISOString()}::timestamptz`
  const gone = await db.execute<{ id: string }>(sql`
    with given_up as materialized (
      select t.tenant_id, t.id, h.id as thread_id, h.tickets
      from ${agentTurns} t join ${runs} r on r.tenant_id = t.tenant_id and r.id = t.run_id
        join ${threads} h on h.tenant_id = t.tenant_id and h.id = t.thread_id
      where t.request is not null and t.run_id is not null and t.answer is null and t.thread_id is not null
        and r.end_time <= ${before} and coalesce(h.drawn_at, h.updated_at) <= ${before}
        and not exists (select from ${messages} m where m.tenant_id = h.tenant_id and m.thread_id = h.id)
        and not exists (select from ${threadTurns} w where w.tenant_id = h.tenant_id and w.thread_id = h.id)
        and not exists (select from ${agentTurns} o join ${runs} r on r.tenant_id = o.tenant_id and r.id = o.run_id
          where o.tenant_id = h.tenant_id and o.thread_id = h.id and r.end_time is null)
      order by t.tenant_id, t.id limit ${BATCH} for update of t skip locked),
    gone as (
      delete from ${threads} h using given_up g
      where h.tenant_id = g.tenant_id and h.id = g.thread_id and h.tickets = g.tickets
      returning h.tenant_id, h.id),
    kept as (
      update ${agentTurns} t set thread_id = null from gone
      where t.tenant_id = gone.tenant_id and t.thread_id = gone.id)
    select id from gone`)
  return gone.length
}
