import { lt, sql } from 'drizzle-orm'
import type { Db } from '@/db/index'
import { runs } from '@/db/schema/runs'
import { chatEvents, threads, threadTurns } from '@/db/schema/threads'
import { agentTurns } from '@/db/schema/turns'
import type { ServiceContext } from '../context'

/** How long events are kept after they were stored. */
export const LIFETIME_MS = 3_600_000

/** The place of a turn in its thread, under which its events are kept. */
export interface Place {
  threadId: string
  ticket: number
}

/** The position of an event: the value of `Last-Event-ID`. */
export interface EventPlace extends Place {
  seq: number
}

export function parseEventId(text: string): EventPlace | null {
  const match = /^(thr_[A-Za-z0-9_-]{1,76})\.(\d{1,9})\.(\d{1,9})$/.exec(text)
  return match?.[1] ? { threadId: match[1], ticket: Number(match[2]), seq: Number(match[3]) } : null
}

/**
 * Where the events of a turn begin. One that nobody has streamed gets its place now.
 * @returns null if its thread is gone
 */
export async function beginningOf({ db, tenantId }: ServiceContext, turnId: string): Promise<EventPlace | null> {
  // The turn before the thread, like the statement that records its end.
  const [place] = await db.execute<{ threadId: string | null; ticket: number | null }>(sql`
    with turn as materialized (
      select id, thread_id, ticket from ${agentTurns} where tenant_id = ${tenantId} and id = ${turnId} for update),
    drawn as (
      update ${threads} h set tickets = h.tickets + 1 from turn
      where h.tenant_id = ${tenantId} and h.id = turn.thread_id and turn.ticket is null returning h.tickets),
    given as (
      update ${agentTurns} t set ticket = drawn.tickets from drawn where t.tenant_id = ${tenantId} and t.id = ${turnId})
    select thread_id as "threadId", coalesce(ticket, (select tickets from drawn)) as ticket from turn`)
  const { threadId, ticket } = place ?? {}
  return threadId != null && ticket != null ? { threadId, ticket, seq: 0 } : null
}

/**
 * Deletes old events and turns of dead processes. The events of a turn that a run has stay for as long after the run has
 * ended. With its last event a turn loses its place: a later stream of it gets a new one, so no id of an event comes twice.
 * @returns how many events
 */
export async function sweepChats(db: Db, now: Date): Promise<number> {
  const old = new Date(now.getTime() - LIFETIME_MS)
  await db.delete(threadTurns).where(lt(threadTurns.leasedUntil, old))
  const before = sql`${old.toISOString()}::timestamptz`
  const [gone] = await db.execute<{ count: number }>(sql`
    with places as materialized (
      select distinct tenant_id, thread_id, ticket from ${chatEvents} where created_at < ${before}),
    over as materialized (
      select p.*, t.id, t.ended_at from places p
        left join ${agentTurns} t on t.tenant_id = p.tenant_id and t.thread_id = p.thread_id and t.ticket = p.ticket
        left join ${runs} r on r.tenant_id = t.tenant_id and r.id = t.run_id
      where t.run_id is null or r.end_time < ${before}),
    gone as (
      delete from ${chatEvents} e using over o
      where e.tenant_id = o.tenant_id and e.thread_id = o.thread_id and e.ticket = o.ticket and e.created_at < ${before}
      returning e.seq),
    left_places as (
      update ${agentTurns} t set ticket = null from over o
      where t.tenant_id = o.tenant_id and t.id = o.id and t.ticket = o.ticket
        and (t.run_id is not null or t.ended_at < ${before})
        and not exists (
          select from ${chatEvents} e where e.tenant_id = o.tenant_id and e.thread_id = o.thread_id
            and e.ticket = o.ticket and e.created_at >= ${before}))
    select count(*)::int as count from gone`)
  return gone?.count ?? 0
}
