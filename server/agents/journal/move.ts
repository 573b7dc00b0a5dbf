import { getTableColumns, type SQL, sql } from 'drizzle-orm'
import { toSnakeCase } from 'drizzle-orm/casing'
import { chatEvents } from '@/db/schema/threads'
import { agentCalls, agentTurns } from '@/db/schema/turns'
import type { ServiceContext, TransactionContext } from '../../context'
import type { TurnAsked } from '../../definition/agent'
import { newId } from '../../ids'
import { NO_USAGE } from '../../models/call'
import { keyBelow } from './key'

/** The message of invoke or chat that a run answers. */
export interface AskedTurn {
  id: string
  agentId: string
  version: number
  /** Null if its thread is gone, because nothing was said in it. */
  threadId: string | null
  subject: string | null
  asked: TurnAsked
}

/**
 * @param options.lock keeps it as it is until the transaction ends
 * @returns null if the run answers none, or a later run has taken it up
 */
export async function askedTurnOf(
  ctx: ServiceContext,
  runId: string,
  { lock = false } = {},
): Promise<AskedTurn | null> {
  const [turn] = await ctx.db.execute<AskedTurn & Record<string, unknown>>(sql`
    select id, agent_id as "agentId", version, thread_id as "threadId", subject, request as asked from ${agentTurns}
    where tenant_id = ${ctx.tenantId} and run_id = ${runId} and request is not null and root_id is null ${lock ? sql`for update` : sql``}`)
  return turn ?? null
}

interface Moved {
  turn: AskedTurn
  /** The runs. */
  from: string
  to: string
  /** The agent's version that continues it, and the thread that gets the answer; null for a new one. */
  version: number
  threadId: string | null
  /** What the keys of the first run's calls begin with. */
  key: string
}

/**
 * Lets another run continue the turn that invoke or chat began: who asks for its answer by its id, its key or its place in
 * the thread gets that of the other run. Its calls are not made again, and those that were asked for keep their keys. They
 * cost nothing there; which of them need a decision is decided anew. The first run keeps a record of them. A stream with
 * the failure has ended, so a later one has another place.
 */
export async function moveTurn(
  tx: TransactionContext,
  { turn, from, to, version, threadId, key }: Moved,
): Promise<void> {
  const copy = newId('trn')
  const copyOf = (id: SQL) => sql`${copy} || substr(${id}, length(${turn.id}::text) + 1)`
  const isOwn = sql`t.tenant_id = ${tx.tenantId} and (t.id = ${turn.id} or t.root_id = ${turn.id})`
  // Another answer would not match either.
  const isOver = sql`t.state = 'done' or (t.root_id is not null and t.error_code = 'OUTPUT_SCHEMA_MISMATCH')`
  await tx.db.execute(sql`
    with before as (select * from ${agentTurns} t where ${isOwn} and run_id = ${from}),
    moved as (
      update ${agentTurns} t set run_id = ${to}, version = case when t.root_id is null then ${version}::int else t.version end,
        thread_id = case when t.root_id is null then ${threadId}::text end, tools = case when ${isOver} then t.tools end,
        state = case when ${isOver} then t.state else 'working' end, error_code = case when ${isOver} then t.error_code end, attempt = 0,
        ticket = case when not exists (select from ${chatEvents} e where e.tenant_id = t.tenant_id
          and e.thread_id = t.thread_id and e.ticket = t.ticket and e.event = 'error') then t.ticket end,
        usage = ${JSON.stringify(NO_USAGE)}::jsonb, cost = null, ended_at = case when ${isOver} then t.ended_at end
      from before where t.tenant_id = before.tenant_id and t.id = before.id
      returning before.*)
    insert into ${agentTurns} (id, root_id, key, owner, leased_until, request, ticket, ${columns(agentTurns, OWN_OF_TURN)})
    select ${copyOf(sql`id`)}, case when root_id is not null then ${copy} end, null, null, null, null, null,
      ${columns(agentTurns, OWN_OF_TURN)} from moved where exists (select from moved where id = ${turn.id})`)
  await tx.db.execute(sql`
    insert into ${agentCalls} (turn_id, ${columns(agentCalls, OWN_OF_CALL)})
    select ${copyOf(sql`turn_id`)}, ${columns(agentCalls, OWN_OF_CALL)} from ${agentCalls}
    where tenant_id = ${tx.tenantId} and turn_id in (select t.id from ${agentTurns} t where ${isOwn} and run_id = ${to}) order by change`)
  await tx.db.execute(sql`
    update ${agentCalls} c set usage = null, cost = null, policy = null,
      key_base = case when c.kind = 'model' then coalesce(c.key_base, ${key} || ${keyBelow(sql`t.id`, sql`${turn.id}::text`)}) end
    from ${agentTurns} t where ${isOwn} and c.tenant_id = t.tenant_id and c.turn_id = t.id`)
}

const OWN_OF_TURN = ['id', 'rootId', 'key', 'owner', 'leasedUntil', 'request', 'ticket']
const OWN_OF_CALL = ['turnId', 'change']

/** From the schema, so that new ones are copied without a change here. */
function columns(table: typeof agentTurns | typeof agentCalls, own: readonly string[]): SQL {
  const names = Object.keys(getTableColumns(table)).filter((name) => !own.includes(name))
  return sql.raw(names.map((name) => `"${toSnakeCase(name)}"`).join(', '))
}
