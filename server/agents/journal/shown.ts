import { type SQL, sql } from 'drizzle-orm'
import { messages } from '@/db/schema/threads'
import { agentCalls, agentTurns } from '@/db/schema/turns'
import { seesHidden } from '../../auth/policy'
import type { ServiceContext } from '../../context'
import type { Tried, Usage } from '../../definition/agent'
import type { CallDecision } from '../../definition/approval'
import { placeIn } from '../../definition/branches'
import { isJsonObject, type JsonValue } from '../../definition/json'
import { giveWay } from '../../give-way'
import { pageAfter } from '../../query/values'
import type { RunMasker } from '../../vault/hide'
import { tenantMasker } from '../../vault/masker'
import { MAX_MESSAGES } from '../messages'
import { maskerOfRuns } from '../thread-masker'
import { resultOf, type ToolCall } from '../turns'
import { type HandedOverBy, handedOver } from './key'

/** The query string of a page of calls. */
export const CALL_PAGE = pageAfter(1_000)

/** The maximum size of a page, beyond its first call. */
const MAX_BYTES = 4 * 1024 * 1024

type Place = {
  turnId: string
  /** Null outside of runs, as the visit. */
  runId: string | null
  stepId: string | null
  visit: number | null
  branch: string | null
  seq: number
  kind: 'model' | 'tool'
}

type OfTurn = Pick<Place, 'turnId' | 'runId'>

/** A recorded call, and what the model asked for, if it is a tool's. */
type StoredCall = Place & {
  change: number
  name: string
  output: JsonValue
  asked: { toolCallId?: string; input?: JsonValue } | null
  usage: Usage | null
  cost: number | null
  tried: Tried[] | null
  decision: CallDecision | null
  errorCode: string | null
  startedAt: string
  endedAt: string
}

type Shown = Omit<Place, 'runId' | 'branch' | 'kind'> & {
  /** Of an agent that was handed a message: by which call. */
  handedOverBy?: HandedOverBy
  branch?: string
  iteration?: number[]
  name: string
  startedAt: string
  endedAt: string
}

export type ShownCall = Shown &
  (
    | ({ kind: 'model'; text: string; tried?: Tried[] } & Pick<StoredCall, 'usage' | 'cost' | 'errorCode'>)
    | ({
        kind: 'tool'
        result: NonNullable<ToolCall['result']>
        decision?: CallDecision
      } & Pick<ToolCall, 'toolCallId' | 'args'>)
  )

/**
 * A page of calls in the order in which they were recorded, masked as the messages of their turns are.
 * @param where which ones; `t` are their turns, `p` those that a step or a caller began, and `c` the calls
 * @returns with the position to continue at; null if there are no more
 */
export async function readCalls(
  ctx: ServiceContext,
  where: SQL,
  { after, limit }: { after: number; limit: number },
): Promise<{ calls: ShownCall[]; next: number | null }> {
  const found = await readPage(ctx, sql`${where} and c.change > ${after}`, limit + 1)
  const page = found.slice(0, limit)
  const maskers = await maskersOf(ctx, page)
  const calls: ShownCall[] = []
  for (const call of page) {
    await giveWay(ctx.tenantId)
    calls.push(shown(call, maskers(call)))
  }
  const last = page.at(-1)
  return { calls, next: last && last.change < last.last ? last.change : null }
}

/**
 * As many as fit into an answer, but at least one. Walks from the first one and stops when the answer is full: measuring
 * a call makes the database read it whole. `last` is the position of the last one found.
 */
function readPage(ctx: ServiceContext, where: SQL, limit: number) {
  const call = (turn: string, seq: string) => sql`${agentCalls} c left join lateral (
      select a.output->'calls'->(c.seq - a.seq - 1) as asked from ${agentCalls} a
      where c.kind = 'tool' and a.tenant_id = c.tenant_id and a.turn_id = c.turn_id and a.kind = 'model' and a.seq < c.seq
      order by a.seq desc limit 1) m on true
    where c.tenant_id = ${ctx.tenantId} and c.turn_id = ${sql.raw(turn)} and c.seq = ${sql.raw(seq)}`
  const size = (at: string) => sql`lateral (
    select octet_length(c.output::text)::bigint + coalesce(octet_length(m.asked::text), 0) as bytes
    from ${call(`l.turns[${at}]`, `l.seqs[${at}]`)}) s`
  return ctx.db.execute<StoredCall & { last: number }>(sql`
    with recursive page as materialized (
      select row_number() over (order by found.change) as nth, found.* from (
        select t.id as turn, p.run_id, p.step_id, p.visit, p.branch, c.seq, c.change
        from ${agentTurns} t join ${agentTurns} p on p.tenant_id = t.tenant_id and p.id = coalesce(t.root_id, t.id)
          join ${agentCalls} c on c.tenant_id = t.tenant_id and c.turn_id = t.id
        where t.tenant_id = ${ctx.tenantId} and ${where}
        order by c.change limit ${limit}) found),
    listed as materialized (select array_agg(turn order by nth) as turns, array_agg(seq order by nth) as seqs from page),
    fits as (
      select 1 as nth, s.bytes from listed l, ${size('1')}
      union all
      select f.nth + 1, f.bytes + s.bytes from fits f, listed l, ${size('f.nth + 1')} where f.bytes <= ${MAX_BYTES})
    select p.turn as "turnId", p.run_id as "runId", p.step_id as "stepId", p.visit, p.branch, p.seq,
      p.change::float8 as change, (select max(change) from page)::float8 as last, one.*
    from page p, lateral (
      select c.kind, c.name, c.output, m.asked, c.usage, c.cost, c.tried, c.decision, c.error_code as "errorCode",
        c.started_at as "startedAt", c.ended_at as "endedAt" from ${call('p.turn', 'p.seq')}) one
    where p.nth <= (select max(nth) from fits) order by p.change`)
}

/** The calls `c` of the turn `t` and of those of the agents that it handed messages to, with the index. */
export const CALLS_BELOW = sql`${agentCalls} c where c.tenant_id = t.tenant_id and c.turn_id = any(array(
        select t.id union all select h.id from ${agentTurns} h
        where h.tenant_id = t.tenant_id and h.root_id = coalesce(t.root_id, t.id) and starts_with(h.id, t.id || '-')))`

/** A turn, and those of the agents that it handed messages to, as a condition on `t`. */
export function withHandOvers(turnId: string): SQL {
  const [rootId = turnId] = turnId.split('-')
  if (rootId === turnId) return sql`(t.id = ${turnId} or t.root_id = ${turnId})`
  return sql`t.root_id = ${rootId} and (t.id = ${turnId} or starts_with(t.id, ${`${turnId}-`}))`
}

/** For people: hides what the run of a call hides, and the runs that spoke before it in its thread. */
export async function maskersOf(ctx: ServiceContext, page: readonly OfTurn[]): Promise<(call: OfTurn) => RunMasker> {
  const vault = await tenantMasker(ctx)
  const plain = await maskerOfRuns(ctx, [], vault)
  if (!seesHidden(ctx) || page.length === 0) return () => plain
  const runsOf = await runsBefore(ctx, [...new Set(page.map(({ turnId }) => turnId))])
  const known = new Map<string, RunMasker>()
  const byTurn = new Map<string, RunMasker>()
  for (const { turnId, runId } of page) {
    if (byTurn.has(turnId)) continue
    const runs = [...new Set([...(runsOf.get(turnId) ?? []), ...(runId === null ? [] : [runId])])].sort()
    const key = runs.join()
    const masker = known.get(key) ?? (await maskerOfRuns(ctx, runs, vault))
    known.set(key, masker)
    byTurn.set(turnId, masker)
  }
  return ({ turnId }) => byTurn.get(turnId) ?? plain
}

/** The runs with messages in the history of each turn. */
async function runsBefore(ctx: ServiceContext, turnIds: string[]): Promise<Map<string, string[]>> {
  const rows = await ctx.db.execute<{ id: string; runs: string[] }>(sql`
    select t.id, array_agg(distinct m.run_id) as runs from ${agentTurns} t
      join ${agentTurns} p on p.tenant_id = t.tenant_id and p.id = coalesce(t.root_id, t.id)
      join ${messages} m on m.tenant_id = p.tenant_id and m.thread_id = p.thread_id and m.run_id is not null
        and m.seq > p.history_to - ${MAX_MESSAGES} and m.seq <= p.history_to
    where t.tenant_id = ${ctx.tenantId} and t.id = any(${sql.param(turnIds)}::text[]) and p.history_to > 0
    group by t.id`)
  return new Map(rows.map(({ id, runs }) => [id, runs]))
}

function shown({ turnId, stepId, visit, branch, seq, ...call }: StoredCall, masker: RunMasker): ShownCall {
  const { name, output, asked, usage, cost, errorCode } = call
  const place = { turnId, ...handedOver(turnId), stepId, visit, ...(branch === null ? {} : placeIn(branch)), seq }
  const times = { startedAt: iso(call.startedAt), endedAt: iso(call.endedAt) }
  if (call.kind === 'model') {
    const text = isJsonObject(output) && typeof output.text === 'string' ? masker.text(output.text) : ''
    const { tried } = call
    return { ...place, kind: 'model', name, text, usage, cost, errorCode, ...(tried ? { tried } : {}), ...times }
  }
  const { success, value } = resultOf(output)
  return {
    ...{ ...place, kind: 'tool', name: masker.text(name), toolCallId: masker.vault.text(asked?.toolCallId ?? '') },
    ...{ args: masker.json(asked?.input ?? {}), result: { success, value: masker.json(value) } },
    ...(call.decision ? { decision: masker.json(call.decision) } : {}),
    ...times,
  }
}

function iso(text: string): string {
  return new Date(text).toISOString()
}
