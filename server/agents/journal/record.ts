import { type SQL, sql } from 'drizzle-orm'
import { sqlState } from '@/db/deadline'
import { runs, stepRecords } from '@/db/schema/runs'
import { messages, threads, threadTurns } from '@/db/schema/threads'
import { agentCalls, agentTurns } from '@/db/schema/turns'
import type { ServiceContext } from '../../context'
import type { TurnAnswer, TurnMetadata, Usage, UserMessage } from '../../definition/agent'
import type { CallDecision } from '../../definition/approval'
import { AppError } from '../../errors'
import { takeForThread } from '../../files/take'
import { newId } from '../../ids'
import { NO_USAGE } from '../../models/call'
import { type ReplyMessage, rowsOfTurn } from '../messages'
import { subjectOf } from '../thread'
import { addUsageOf, type DaySum } from '../usage'
import { type Fenced, isInRun, type TurnAttempt, type TurnFence, type TurnHold } from './attempt'
import type { Call } from './call'

/** A row of `agent_turns`, apart from its place. */
export interface TurnRow {
  id: string
  /** Of an agent that was handed a message: the turn that a step or a caller began. */
  rootId: string | null
  /** The message that it was handed, and what people decided about that. */
  handed?: HandedMessage
  agentId: string
  version: number
  /** Null in a copy whose versions are not determined yet. */
  tools: Record<string, string | number> | null
  threadId: string | null
  historyTo: number
  /** A waiting one has asked people in a thread that others know, until it ends. */
  state: 'working' | 'waiting' | 'done' | 'failed'
  errorCode: string | null
  usage: Usage
  cost: number | null
  startedAt: Date
}

export interface HandedMessage {
  message: string
  decision?: CallDecision
}

/** A turn that begins now. */
export function newTurn(ctx: ServiceContext, agent: { id: string; version: number }, threadId: string | null): TurnRow {
  return {
    ...{ id: newId('trn'), rootId: null, agentId: agent.id, version: agent.version, tools: {}, threadId, historyTo: 0 },
    ...{ state: 'working', errorCode: null, usage: NO_USAGE, cost: null, startedAt: ctx.now() },
  }
}

/** The messages that a turn ends with, and the thread that gets them. */
export interface SavedTurn {
  threadId: string
  /** Its place among the turns of that thread; null for a new one, which nobody else knows. */
  ticket: number | null
  userMessage: UserMessage
  replies: ReplyMessage[]
  metadata: TurnMetadata
  runId: string | null
  /** Kept if a caller of invoke or chat gets it. */
  answer: TurnAnswer | null
}

type Written = { mine: number; stopping: boolean; ended: number; spent: DaySum[] | null; saved?: boolean }

/**
 * Records calls that have ended, and the turn as it is with them: one statement and one commit. Calls that are recorded
 * already stay as they are. In a run it locks the run and then the visit, as every change of a run does.
 * @throws AppError THREAD_NOT_FOUND if the thread was deleted in the meantime
 */
export async function recordCalls(
  ctx: ServiceContext,
  at: TurnFence,
  turn: TurnRow,
  calls: readonly Call[],
  onSpent: (sums: readonly DaySum[]) => void = () => {},
): Promise<Fenced> {
  const written = await write(
    ctx,
    sql`
    with ${fence(ctx, at, turn)},
    ended as materialized (select run_id from step),
    ${rows(ctx, at, turn, calls)}
    select ${OUTCOME}`,
  )
  onSpent(written?.spent ?? [])
  return outcomeOf(written)
}

/** Violation of a foreign key: the run is locked, so it is the thread that is gone. */
const THREAD_GONE = '23503'
/** Violation of a unique index: another process has begun the turn of this key. */
const KEY_TAKEN = '23505'

async function write(ctx: ServiceContext, statement: SQL): Promise<Written | undefined> {
  try {
    const [written] = await ctx.db.execute<Written>(statement)
    return written
  } catch (err) {
    if (sqlState(err) === KEY_TAKEN) return undefined
    throw sqlState(err) === THREAD_GONE ? new AppError('THREAD_NOT_FOUND', { cause: err }) : err
  }
}

/**
 * The same at the end of a turn, together with its messages, so that all or none of it is written.
 * @throws AppError THREAD_BUSY if another message has overtaken it in its thread; THREAD_NOT_FOUND
 */
export async function recordEnd(
  ctx: ServiceContext,
  at: TurnFence,
  turn: TurnRow,
  calls: readonly Call[],
  saved: SavedTurn,
  onSpent: (sums: readonly DaySum[]) => void = () => {},
): Promise<Fenced> {
  const ended =
    saved.ticket === null
      ? sql`ended as materialized (select run_id from step)`
      : sql`ticket as (
      delete from ${threadTurns} t using step
      where t.tenant_id = ${ctx.tenantId} and t.thread_id = ${saved.threadId} and t.ticket = ${saved.ticket}
      returning t.ticket),
    ended as materialized (select step.run_id from step cross join ticket)`
  const written = await write(
    ctx,
    sql`
    with ${fence(ctx, at, turn)},
    ${ended},
    ${rows(ctx, at, turn, calls, saved.answer)},
    ${thread(ctx, turn, saved)},
    ${said(ctx, saved)}${filesOf(ctx, saved)}
    select ${OUTCOME}, exists (select from ${agentTurns} t
        where t.tenant_id = ${ctx.tenantId} and t.id = ${turn.id} and t.state = 'done') as saved`,
  )
  onSpent(written?.spent ?? [])
  const outcome = outcomeOf(written)
  // This statement does not see its own changes: a turn that is saved was saved by an earlier try.
  if (outcome !== 'refused' && written?.ended === 0 && !written.saved)
    throw new AppError('THREAD_BUSY', { message: 'The thread is busy: another message has overtaken this one' })
  return outcome
}

/** Records a turn that has ended no call since, or its new state: one that others may continue, or that waits for people. */
export async function recordState(ctx: ServiceContext, at: TurnFence, turn: TurnRow): Promise<Fenced> {
  const row = turnRow(ctx, at, turn, { endedAt: null, answer: null }, sql`ended`)
  const written = await write(
    ctx,
    sql`
    with ${fence(ctx, at, turn)},
    ended as materialized (select run_id from step),
    turn as (${row} do update set state = excluded.state),
    spent as (select where false)
    select ${OUTCOME}`,
  )
  return outcomeOf(written)
}

const OUTCOME = sql`
      (select count(*)::int from step) as mine, (select count(*)::int from ended) as ended,
      (select json_agg(spent) from spent) as spent,
      coalesce((select stopping from run), false) as stopping`

function outcomeOf(written: Written | undefined): Fenced {
  if (!written || written.mine === 0) return 'refused'
  return written.stopping ? 'stopping' : 'written'
}

/** That of the turn that a step or a caller began: all agents that it hands messages to record under it. */
function fence(ctx: ServiceContext, at: TurnFence, { id, rootId }: TurnRow): SQL {
  return isInRun(at) ? ofAttempt(ctx, at) : ofHold(ctx, at, { id: rootId ?? id, isBelow: rootId !== null })
}

/** The run is open, and the attempt the latest of its visit. */
function ofAttempt({ tenantId }: ServiceContext, { runId, branch, stepId, visit, attempt }: TurnAttempt): SQL {
  return sql`run as materialized (
      select r.id, r.cancel_requested_at is not null as stopping from ${runs} r
      where r.tenant_id = ${tenantId} and r.id = ${runId} and r.end_time is null for no key update),
    step as materialized (
      select s.run_id from run join ${stepRecords} s on s.tenant_id = ${tenantId} and s.run_id = run.id
        and s.branch = ${branch} and s.step_id = ${stepId} and s.visit = ${visit}
      where s.end_time is null and s.attempt = ${attempt} for no key update of s)`
}

/** No other process holds the turn, and no run has it. A turn that is not recorded is known to nobody else. */
function ofHold({ tenantId }: ServiceContext, hold: TurnHold, { id, isBelow }: { id: string; isBelow: boolean }): SQL {
  const { owner, isRecorded } = hold
  const isMine = sql`t.tenant_id = ${tenantId} and t.id = ${id} and t.owner = ${owner} and t.run_id is null`
  // The record of a turn below does not write this row otherwise.
  const mine = isBelow
    ? sql`update ${agentTurns} t set leased_until = ${hold.leasedUntil().toISOString()}::timestamptz where ${isMine}
      returning t.run_id`
    : sql`select t.run_id from ${agentTurns} t where ${isMine} for no key update`
  return sql`run as (select false as stopping),
    step as materialized (${isRecorded ? mine : sql`select null::text as run_id`})`
}

/** Everything else hangs on the calls: a repeated statement adds none, and so changes nothing. */
function rows(
  ctx: ServiceContext,
  at: TurnFence,
  turn: TurnRow,
  calls: readonly Call[],
  answer: TurnAnswer | null = null,
): SQL {
  const endedAt = turn.state === 'working' || turn.state === 'waiting' ? null : (calls.at(-1)?.endedAt ?? null)
  const given = sql`json_to_recordset(${JSON.stringify(calls)}::json) as c("seq" int, "kind" text, "name" text,
        "output" json, "policy" json, "decision" json, "usage" jsonb, "cached" int, "cost" float8, "provider" text, "fallback" int, "tried" jsonb,
        "errorCode" text, "startedAt" timestamptz, "endedAt" timestamptz)`
  const count = (name: string) => sql`sum((c."usage"->>${name})::bigint)`
  return sql`calls as (
      insert into ${agentCalls} (tenant_id, turn_id, seq, kind, name, output, policy, decision, usage, cost, provider,
        fallback, tried, error_code, started_at, ended_at)
      select ${ctx.tenantId}, ${turn.id}, c."seq", c."kind", c."name", c."output", c."policy", c."decision", c."usage",
        c."cost", c."provider", c."fallback", c."tried", c."errorCode", c."startedAt", c."endedAt"
      from ended cross join ${given}
      on conflict do nothing returning seq),
    used as (
      select count(*)::int as calls, ${count('inputTokens')} as input, coalesce(sum(c."cached"), 0) as cached,
        ${count('outputTokens')} as output, coalesce(sum(c."cost"), 0) as cost
      from calls join ${given} on c."seq" = calls.seq where c."kind" = 'model' having count(*) > 0),
    spent as (${addUsageOf(ctx, turn.agentId, sql`used`)}),
    turn as (
      ${turnRow(ctx, at, turn, { endedAt, answer }, sql`ended where exists (select from calls)`)} do update set
        version = excluded.version, tools = excluded.tools, thread_id = excluded.thread_id,
        history_to = excluded.history_to, state = excluded.state, error_code = excluded.error_code,
        attempt = excluded.attempt, usage = excluded.usage, cost = excluded.cost, ended_at = excluded.ended_at,
        answer = excluded.answer, owner = excluded.owner, leased_until = excluded.leased_until
      returning id)`
}

/** Adds the row of a turn, unless there is one. */
function turnRow(
  ctx: ServiceContext,
  at: TurnFence,
  turn: TurnRow,
  { endedAt, answer }: { endedAt: string | null; answer: TurnAnswer | null },
  from: SQL,
): SQL {
  const [place, key] = placeAndKey(at, turn, endedAt !== null)
  return sql`insert into ${agentTurns} (tenant_id, id, agent_id, version, tools, thread_id, history_to, state, error_code,
        usage, cost, started_at, ended_at, answer, run_id, branch, step_id, visit, attempt, key, owner, leased_until,
        request, subject, ticket, root_id)
      select ${ctx.tenantId}, ${turn.id}, ${turn.agentId}, ${turn.version}::int, ${JSON.stringify(turn.tools)}::jsonb,
        ${turn.threadId}, ${turn.historyTo}::int, ${turn.state}, ${turn.errorCode}, ${JSON.stringify(turn.usage)}::jsonb,
        ${turn.cost}::float8, ${turn.startedAt.toISOString()}::timestamptz, ${endedAt}::timestamptz,
        ${answer && JSON.stringify(answer)}::json, ${place}, ${turn.rootId}
      from ${from}
      on conflict (tenant_id, ${key})`
}

function placeAndKey(at: TurnFence, { rootId, handed }: TurnRow, hasEnded: boolean): [place: SQL, key: SQL] {
  if (rootId !== null) {
    const attempt = isInRun(at) ? at.attempt : 0
    return [
      sql`run_id, null, null, null::int, ${attempt}::int, null, null, null::timestamptz,
        ${handed ? JSON.stringify(handed) : null}::json, null, null::int`,
      sql`id`,
    ]
  }
  return isInRun(at) ? [placeOf(at), sql`run_id, branch, step_id, visit`] : [holdOf(at, hasEnded), sql`id`]
}

function placeOf({ branch, stepId, visit, attempt }: TurnAttempt): SQL {
  return sql`run_id, ${branch}, ${stepId}, ${visit}::int, ${attempt}::int, null, null, null::timestamptz, null::json, null,
        null::int`
}

/** A turn that has ended is held by nobody. */
function holdOf(hold: TurnHold, hasEnded: boolean): SQL {
  const { owner, asked, subject, requestKey, ticket } = hold
  const held = hasEnded ? sql`null, null::timestamptz` : sql`${owner}, ${hold.leasedUntil().toISOString()}::timestamptz`
  return sql`run_id, null, null, null::int, 0, ${requestKey}, ${held}, ${JSON.stringify(asked)}::json, ${subject},
        ${ticket}::int`
}

function thread(ctx: ServiceContext, turn: TurnRow, { threadId, ticket }: SavedTurn): SQL {
  const now = ctx.now().toISOString()
  const created = sql`
      insert into ${threads} (tenant_id, id, agent_id, subject, created_at, updated_at)
      select ${ctx.tenantId}, ${threadId}, ${turn.agentId}, ${subjectOf(ctx)}, ${now}::timestamptz, ${now}::timestamptz
      from ended where exists (select from calls) returning id`
  const continued = sql`
      update ${threads} set updated_at = ${now}::timestamptz
      where tenant_id = ${ctx.tenantId} and id = ${threadId} and exists (select from ended) and exists (select from calls)
      returning id`
  return sql`thread as (${ticket === null ? created : continued})`
}

function said(ctx: ServiceContext, { threadId, ...turn }: SavedTurn): SQL {
  return sql`said as (
      insert into ${messages} (tenant_id, thread_id, seq, role, content, metadata, run_id, created_at)
      select ${ctx.tenantId}, ${threadId}, before.seq + m."seq", m."role", m."content", m."metadata", m."runId",
        ${ctx.now().toISOString()}::timestamptz
      from ended cross join (select coalesce(max(seq), 0) as seq from ${messages}
          where tenant_id = ${ctx.tenantId} and thread_id = ${threadId}) before
        cross join json_to_recordset(${JSON.stringify(rowsOfTurn(turn))}::json) as m("seq" int, "role" text,
          "content" jsonb, "metadata" jsonb, "runId" text)
      where exists (select from calls))`
}

/** The uploads of the message belong to the thread from now on. */
function filesOf(ctx: ServiceContext, { threadId, userMessage: { files } }: SavedTurn): SQL {
  if (!files) return sql``
  const ids = sql`select json_array_elements_text(${JSON.stringify(files.map(({ fileId }) => fileId))}::json)::uuid
        from ended where exists (select from calls)`
  return sql`,
    taken as (${takeForThread(ctx, threadId, ids)})`
}
