import { type SQL, sql } from 'drizzle-orm'
import { runs, stepRecords } from '@/db/schema/runs'
import { agentTurns } from '@/db/schema/turns'
import { CALL_PLACE, PLACE_OF_TURN } from '../../agents/call-place'
import { requireTurn } from '../../agents/get-turn'
import { CALLS_BELOW, maskersOf } from '../../agents/journal/shown'
import { authorize } from '../../auth/policy'
import type { ServiceContext } from '../../context'
import type { Tried, Usage } from '../../definition/agent'
import type { CallDecision } from '../../definition/approval'
import { HAND_OFF } from '../../models/tool-names'
import { parseInput } from '../../parse'
import { getRunRow } from '../../run-store/find-run'
import { findCall, isOfVisit, ReadCall, ReadCalls } from '../../runs/find-call'
import { noSuchStep } from '../../runs/no-such-step'
import { runMaskerOf } from '../../runs/run-masker'
import type { Masker } from '../../vault/mask'
import { tenantMasker } from '../../vault/masker'
import { nameActors } from '../actors'
import { type Shown, shown } from '../agents/read-thread'
import { namesOf } from '../names-of'

/** A call of an agent, in a line. */
export interface CallRow {
  /** Its place in the turn. */
  id: string
  /** Through how many agents the message went to the one that made it. */
  depth: number
  kind: 'model' | 'tool'
  /** The model, or the name of the tool. */
  title: string
  tokens: { input: number; output: number } | null
  cost: number | null
  failed: boolean
  /** Milliseconds since the start of the run. */
  start: number
  end: number
}

export interface CallList {
  calls: CallRow[]
  /** In a turn under way: the tools that the model asked for and that have given no result. */
  waiting: string[]
}

/** A call with what went in and came out; long texts are cut, and `readWholeValue` has them whole. */
export type CallDetail = { kind: CallRow['kind']; title: string; startedAt: string; endedAt: string } & (
  | {
      kind: 'model'
      text: Shown
      usage: Usage | null
      cost: number | null
      errorCode: string | null
      /** The models that gave no answer before it. */
      tried: Tried[]
    }
  | { kind: 'tool'; args: Shown; result: { ok: boolean; output: Shown }; decision: ShownDecision | null }
)

/** What people decided about a call. */
interface ShownDecision {
  approved: boolean
  /** The names of those who did; none if nobody decided in time. */
  by: string[]
  remark: string | null
  /** The arguments that they changed. */
  changed: Shown | null
}

type Found = {
  calls: StoredCall[] | null
  /** Of each agent under way: the tools that its last answer asked for, and the place of the first. */
  last: { turn: string; seq: number; asked: string[] | null }[] | null
}
type StoredCall = Omit<CallRow, 'title' | 'tokens' | 'depth'> & {
  name: string
  usage: Usage | null
}

/**
 * The calls of the agent in a visit or a turn, and of those that it handed messages to, without what they said; none for
 * other steps.
 * @throws AppError RUN_NOT_FOUND, also when the run has no such visit; TURN_NOT_FOUND, INVALID_INPUT
 */
export async function readCallList(ctx: ServiceContext, input: unknown): Promise<CallList> {
  authorize(ctx, 'run:read')
  const of = parseInput(ReadCalls, input)
  const [{ calls, last }, masker] = await ('turnId' in of ? ofTurn(ctx, of) : ofVisit(ctx, of))
  const known = new Set((calls ?? []).map((call) => call.id))
  const missing = (last ?? []).flatMap(({ turn, seq, asked }) =>
    (asked ?? []).filter((_, at) => {
      const id = `${turn}${seq + 1 + at}`
      // A message that was handed over: what its agent waits for is named.
      return !known.has(id) && !known.has(`${id}.1`)
    }),
  )
  const titleOf = await titles(ctx, [...(calls ?? []).map(({ name }) => name), ...missing], masker)
  return {
    calls: (calls ?? []).map(({ name, usage, ...call }) => ({
      ...{ ...call, title: titleOf(name), depth: call.id.split('.').length - 1 },
      tokens: usage && { input: usage.inputTokens, output: usage.outputTokens },
    })),
    waiting: missing.map(titleOf),
  }
}

async function ofVisit(ctx: ServiceContext, { runId, seq }: { runId: string; seq: number }): Promise<[Found, Masker]> {
  const [[found], masker] = await Promise.all([
    ctx.db.execute<Found>(sql`
      select ${callsSince(sql`r.start_time`)} as calls, case when s.end_time is null then ${LAST} end as last
      from ${stepRecords} s join ${runs} r on r.tenant_id = s.tenant_id and r.id = s.run_id
        left join ${agentTurns} t on ${isOfVisit('t')}
      where s.tenant_id = ${ctx.tenantId} and s.run_id = ${runId} and s.seq = ${seq}`),
    runMaskerOf(ctx, runId),
  ])
  if (found) return [found, masker]
  await getRunRow(ctx, runId)
  throw noSuchStep()
}

async function ofTurn(ctx: ServiceContext, at: { agentId: string; turnId: string }): Promise<[Found, Masker]> {
  const { id, runId, state } = await requireTurn(ctx, at)
  const isOpen = state === 'working' || state === 'waiting'
  const [found] = await ctx.db.execute<Found>(sql`
    select ${callsSince(sql`t.started_at`)} as calls, ${isOpen ? LAST : sql`null`} as last
    from ${agentTurns} t where t.tenant_id = ${ctx.tenantId} and t.id = ${id}`)
  const of = { turnId: id, runId }
  return [found ?? { calls: null, last: null }, (await maskersOf(ctx, [of]))(of)]
}

/** In the order in which they were asked for; a message that is handed over, before what became of it. */
function callsSince(start: SQL): SQL {
  const ms = (column: string) =>
    sql`round(extract(epoch from ${sql.raw(column)}) * 1000)::float8 - round(extract(epoch from ${start}) * 1000)::float8`
  const row = sql`json_build_object('id', ${CALL_PLACE}, 'kind', c.kind, 'name', c.name, 'usage', c.usage, 'cost', c.cost,
        'failed', ${FAILED}, 'start', ${ms('c.started_at')}, 'end', ${ms('c.ended_at')})`
  return sql`(select json_agg(${row} order by string_to_array(${CALL_PLACE}, '.')::int[]) from ${CALLS_BELOW})`
}

/**
 * Rows of earlier releases have no code of a tool that failed. Of their results only those are read that stand in the row
 * itself, so that a refresh of the page does not read large ones.
 */
const FAILED = sql.raw(
  `c.error_code is not null or (c.kind = 'tool' and pg_column_size(c.output) < 2000 and c.output->>'type' like 'error%')`,
)

const LAST = sql`(select json_agg(json_build_object('turn', l.turn, 'seq', l.seq, 'asked',
        (select json_agg(a->>'toolName') from json_array_elements(l.output->'calls') a)) order by l.turn)
      from (select distinct on (c.turn_id) c.seq, c.output, ${PLACE_OF_TURN} as turn from ${CALLS_BELOW}
          and c.kind = 'model' and c.error_code is null order by c.turn_id, c.seq desc) l)`

/**
 * One call of an agent.
 * @throws AppError RUN_NOT_FOUND, TURN_NOT_FOUND, also when there is no such call; INVALID_INPUT
 */
export async function readCall(ctx: ServiceContext, input: unknown): Promise<CallDetail> {
  authorize(ctx, 'run:read')
  const at = parseInput(ReadCall, input)
  const call = await findCall(ctx, at)
  const { name, startedAt, endedAt } = call
  const masker = 'runId' in at.of ? await runMaskerOf(ctx, at.of.runId) : await tenantMasker(ctx)
  const title = (await titles(ctx, [name], masker))(name)
  if (call.kind === 'model') {
    const { kind, text, usage, cost, errorCode, tried = [] } = call
    return { kind, title, text: shown(text), usage, cost, errorCode, tried, startedAt, endedAt }
  }
  const { kind, args, result } = call
  const { success: ok, value } = result
  const decision = call.decision ? await showDecision(ctx, call.decision) : null
  return { kind, title, args: shown(args), result: { ok, output: shown(value) }, decision, startedAt, endedAt }
}

async function showDecision(ctx: ServiceContext, decision: CallDecision): Promise<ShownDecision> {
  const { approved, by, remark, args } = decision
  const people = decision.voters ?? (by === null ? [] : [by])
  const nameOf = await nameActors(ctx, people)
  return {
    approved,
    by: people.map((id) => nameOf(id)?.name ?? id),
    remark: remark ?? null,
    changed: args ? shown(args) : null,
  }
}

/** What people call a model, a tool or an agent that was handed a message. */
async function titles(ctx: ServiceContext, names: string[], masker: Masker): Promise<(name: string) => string> {
  const known = await namesOf(
    ctx,
    [...new Set(names)].map((name) => objectOf(name)),
  )
  const nameOf = ({ kind, id }: { kind: string; id: string }) => known.get(`${kind}:${id}`)
  return (name) => (name === 'scripted' ? 'Scripted, offline' : masker.text(nameOf(objectOf(name)) ?? name))
}

function objectOf(name: string) {
  return name.startsWith(HAND_OFF)
    ? { kind: 'agent' as const, id: name.slice(HAND_OFF.length) }
    : { kind: 'tool' as const, id: name }
}
