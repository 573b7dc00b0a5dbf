import { sql } from 'drizzle-orm'
import { runs, stepRecords } from '@/db/schema/runs'
import { agentCalls, agentTurns } from '@/db/schema/turns'
import { authorize } from '../../auth/policy'
import type { ServiceContext } from '../../context'
import type { Tried, Usage } from '../../definition/agent'
import type { CallDecision } from '../../definition/approval'
import { parseInput } from '../../parse'
import { getRunRow } from '../../run-store/find-run'
import { findCall, ReadCall, TURN_OF_VISIT } from '../../runs/find-call'
import { noSuchStep } from '../../runs/no-such-step'
import { runMaskerOf } from '../../runs/run-masker'
import type { Masker } from '../../vault/mask'
import { nameActors } from '../actors'
import { type Shown, shown } from '../agents/read-thread'
import { namesOf } from '../names-of'
import { ReadStep } from './step-detail'

/** A call of an agent, in a line. */
export interface CallRow {
  /** Its number in the turn. */
  seq: number
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

export interface StepCalls {
  calls: CallRow[]
  /** In a visit under way: the tools that the model asked for and that have given no result. */
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

type Stored = {
  began: number
  calls: StoredCall[] | null
  last: { seq: number; asked: string[] | null } | null
}
type StoredCall = Omit<CallRow, 'title' | 'tokens'> & {
  name: string
  usage: Usage | null
}

/**
 * The calls of the agent in one visit, without what they said; none for other steps.
 * @throws AppError RUN_NOT_FOUND, also when the run has no such visit; INVALID_INPUT
 */
export async function readStepCalls(ctx: ServiceContext, input: unknown): Promise<StepCalls> {
  authorize(ctx, 'run:read')
  const { runId, seq } = parseInput(ReadStep, input)
  const [[found], masker] = await Promise.all([findCalls(ctx, runId, seq), runMaskerOf(ctx, runId)])
  if (!found) {
    await getRunRow(ctx, runId)
    throw noSuchStep()
  }
  const { calls, last } = found
  const known = new Set((calls ?? []).map((call) => call.seq))
  const missing = last ? (last.asked ?? []).filter((_, at) => !known.has(last.seq + 1 + at)) : []
  const titleOf = await titles(ctx, [...(calls ?? []).map(({ name }) => name), ...missing], masker)
  return {
    calls: (calls ?? []).map(({ name, usage, ...call }) => ({
      ...{ ...call, title: titleOf(name) },
      tokens: usage && { input: usage.inputTokens, output: usage.outputTokens },
    })),
    waiting: missing.map(titleOf),
  }
}

/** In one statement; of a visit under way also the answer of the model that asked last. */
function findCalls(ctx: ServiceContext, runId: string, seq: number) {
  const ms = (column: string) =>
    sql.raw(
      `round(extract(epoch from ${column}) * 1000)::float8 - round(extract(epoch from r.start_time) * 1000)::float8`,
    )
  const of = sql`from ${agentCalls} c where c.tenant_id = t.tenant_id and c.turn_id = t.id`
  return ctx.db.execute<Stored>(sql`
    select (select json_agg(json_build_object('seq', c.seq, 'kind', c.kind, 'name', c.name, 'usage', c.usage, 'cost', c.cost,
        'failed', ${FAILED},
        'start', ${ms('c.started_at')}, 'end', ${ms('c.ended_at')}) order by c.seq) ${of}) as calls,
      case when s.end_time is null then (select json_build_object('seq', c.seq, 'asked',
          (select json_agg(a->>'toolName') from json_array_elements(c.output->'calls') a))
        ${of} and c.kind = 'model' and c.error_code is null order by c.seq desc limit 1) end as last
    from ${stepRecords} s join ${runs} r on r.tenant_id = s.tenant_id and r.id = s.run_id
      left join ${agentTurns} t on ${TURN_OF_VISIT}
    where s.tenant_id = ${ctx.tenantId} and s.run_id = ${runId} and s.seq = ${seq}`)
}

/**
 * Rows of earlier releases have no code of a tool that failed. Of their results only those are read that stand in the row
 * itself, so that a refresh of the page does not read large ones.
 */
const FAILED = sql.raw(
  `c.error_code is not null or (c.kind = 'tool' and pg_column_size(c.output) < 2000 and c.output->>'type' like 'error%')`,
)

/**
 * One call of the agent in a visit.
 * @throws AppError RUN_NOT_FOUND, also when there is no such call; INVALID_INPUT
 */
export async function readCall(ctx: ServiceContext, input: unknown): Promise<CallDetail> {
  authorize(ctx, 'run:read')
  const at = parseInput(ReadCall, input)
  const { runId } = at
  const call = await findCall(ctx, at)
  const { name, startedAt, endedAt } = call
  const title = (await titles(ctx, [name], await runMaskerOf(ctx, runId)))(name)
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

/** What people call a model or a tool. */
async function titles(ctx: ServiceContext, names: string[], masker: Masker): Promise<(name: string) => string> {
  const known = await namesOf(
    ctx,
    [...new Set(names)].map((id) => ({ kind: 'tool', id })),
  )
  return (name) => (name === 'scripted' ? 'Scripted, offline' : masker.text(known.get(`tool:${name}`) ?? name))
}
