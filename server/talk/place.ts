import { sql } from 'drizzle-orm'
import { threads } from '@/db/schema/threads'
import { agentTurns } from '@/db/schema/turns'
import type { ServiceContext } from '../context'

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
