import { type SQL, sql } from 'drizzle-orm'
import { z } from 'zod'
import { runs, stepRecords } from '@/db/schema/runs'
import { agentCalls, agentTurns } from '@/db/schema/turns'
import { readCalls } from '../../agents/journal/shown'
import { authorize } from '../../auth/policy'
import type { ServiceContext } from '../../context'
import type { Tried, Usage } from '../../definition/agent'
import type { CallDecision } from '../../definition/approval'
import { parseInput } from '../../parse'
import { getRunRow } from '../../run-store/find-run'
import { runMaskerOf } from '../../runs/run-masker'
import { noSuchStep } from '../../runs/whole-value'
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

export const ReadCall = ReadStep.extend({ call: z.number().int().min(1) })
export type ReadCall = z.input<typeof ReadCall>

/** A call with what went in and came out; long texts are cut. */
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
  /** Null if nobody decided in time. */
  by: string | null
  remark: string | null
  /** The arguments that they changed. */
  changed: Shown | null
}

type Stored = {
  began: number
  open: boolean
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
  const { open, calls, last } = found
  const known = new Set((calls ?? []).map((call) => call.seq))
  const missing = open && last ? (last.asked ?? []).filter((_, at) => !known.has(last.seq + 1 + at)) : []
  const titleOf = await titles(ctx, [...(calls ?? []).map(({ name }) => name), ...missing], masker)
  return {
    calls: (calls ?? []).map(({ name, usage, ...call }) => ({
      ...{ ...call, title: titleOf(name) },
      tokens: usage && { input: usage.inputTokens, output: usage.outputTokens },
    })),
    waiting: missing.map(titleOf),
  }
}

/** In one statement, with the answer of the model that asked last. */
function findCalls(ctx: ServiceContext, runId: string, seq: number) {
  const ms = (column: string) =>
    sql.raw(
      `round(extract(epoch from ${column}) * 1000)::float8 - round(extract(epoch from r.start_time) * 1000)::float8`,
    )
  const of = sql`from ${agentCalls} c where c.tenant_id = t.tenant_id and c.turn_id = t.id`
  return ctx.db.execute<Stored>(sql`
    select s.end_time is null as open,
      (select json_agg(json_build_object('seq', c.seq, 'kind', c.kind, 'name', c.name, 'usage', c.usage, 'cost', c.cost,
        'failed', c.error_code is not null or (c.kind = 'tool' and c.output->>'type' like 'error%'),
        'start', ${ms('c.started_at')}, 'end', ${ms('c.ended_at')}) order by c.seq) ${of}) as calls,
      (select json_build_object('seq', c.seq, 'asked',
          (select json_agg(a->>'toolName') from json_array_elements(c.output->'calls') a))
        ${of} and c.kind = 'model' and c.error_code is null order by c.seq desc limit 1) as last
    from ${stepRecords} s join ${runs} r on r.tenant_id = s.tenant_id and r.id = s.run_id
      left join ${agentTurns} t on ${TURN_OF_VISIT}
    where s.tenant_id = ${ctx.tenantId} and s.run_id = ${runId} and s.seq = ${seq}`)
}

/** The turn `t` of the visit `s`. */
const TURN_OF_VISIT = sql`t.tenant_id = s.tenant_id and t.run_id = s.run_id and t.branch = s.branch
        and t.step_id = s.step_id and t.visit = s.visit`

/**
 * One call of the agent in a visit.
 * @throws AppError RUN_NOT_FOUND, also when there is no such call; INVALID_INPUT
 */
export async function readCall(ctx: ServiceContext, input: unknown): Promise<CallDetail> {
  authorize(ctx, 'run:read')
  const { runId, seq, call: number } = parseInput(ReadCall, input)
  const where: SQL = sql`t.run_id = ${runId} and c.seq = ${number} and exists (
    select from ${stepRecords} s where ${TURN_OF_VISIT} and s.seq = ${seq})`
  const { calls } = await readCalls(ctx, where, { after: 0, limit: 1 })
  const [call] = calls
  if (!call) {
    await getRunRow(ctx, runId)
    throw noSuchStep()
  }
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

async function showDecision(ctx: ServiceContext, { approved, by, remark, args }: CallDecision): Promise<ShownDecision> {
  const nameOf = await nameActors(ctx, [by])
  return {
    approved,
    by: by === null ? null : (nameOf(by)?.name ?? by),
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
