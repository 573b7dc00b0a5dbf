import { jsonb, type Statement, send, sql } from '@/db/index'
import type { ServiceContext } from '../context'
import type { StepUsage } from '../definition/agent'
import type { JsonObject } from '../definition/json'
import type { Attempt, PauseAnswer } from '../definition/run'
import type { Outgoing } from '../outbox'
import { RUN_CHANNEL } from './announce'
import { notifyLocally } from './changes'
import { knowEnded } from './close'
import { dueBy } from './due-timer'
import { hear } from './heard'
import type { NewPause, Plan } from './plan'
import { CLEANUP_BRANCH, type Visit, type WalkClaim, type WalkRef } from './receipt'

/** What a plan follows: the claim of its walk, a step that was completed, or both. */
export interface Done {
  /** Where the walk was read to stand, if no record says so: its statement holds only if it still stands there. */
  cursor?: Visit
  /** What the engine run takes the walk from: a request, or its rest at a pause, with which a segment ends. */
  claims: 'requested' | 'resting' | null
  step: DoneStep | null
}

export interface DoneStep {
  at: Visit
  endedAt: Date
  outputData: JsonObject
  outputBytes: number
  delta: JsonObject
  exit?: string | null
  /** Set if the step failed; `handled` if the walk goes on by an exit for that. */
  failure?: { code: string; message: string; handled: boolean }
  /** Only of a step that did work. */
  work?: { attempt: number; attempts: Attempt[]; usage: StepUsage | null }
  /** The pause whose answer was taken. */
  pauseId?: string
  /** Set if it was only given now. */
  given?: { answer: PauseAnswer; by: string }
}

/**
 * Writes what is done and what follows it, in one statement and so in one commit. It holds only if the run is open and
 * not being cancelled (a cleanup path goes on), if the engine run still has the walk, and if nobody has recorded the step
 * or claimed a later attempt of it. The fence locks the run, then the walk, like every verb that changes a run. A
 * statement that had to wait for them checks them again as they are then.
 *
 * - `run`, `walk`: the fence
 * - `step`, `answer`: what is done
 * - `visits`, `moved`, `ended`, `asked`, `sent`: what follows. The rows carry an ordinal, because a join may return them in
 *   any order.
 *
 * @param event what has the walk driven, if nothing drives it yet
 * @returns null if it wrote nothing; a look at the locked rows says why
 */
export async function commitPlan(
  ctx: ServiceContext,
  ref: WalkClaim,
  done: Done,
  plan: Plan,
  event?: Outgoing,
): Promise<{ generation: string | null } | null> {
  const { tenantId, runId, branch } = ref
  const now = ctx.now().toISOString()
  const ended = plan.ending !== null
  const announced = isSettled(plan)
  const ofRun = sql`tenant_id = ${tenantId} and run_id = ${runId}`
  const ofWalk = sql`${ofRun} and branch = ${branch}`
  const [written] = await send<{ generation: string | null }>(
    ctx.db,
    sql`
    with run as materialized (
      select 1 from runs
      where tenant_id = ${tenantId} and id = ${runId} and end_time is null
        ${branch === CLEANUP_BRANCH ? sql`` : sql`and cancel_requested_at is null`}
      for no key update),
    walk as ${walkOf(ref, done, ofWalk, plan, now)},
    ${stepOf(ref, done, plan, ofWalk)},
    visits as (${visitsOf(ref, plan, sql`step`)}),
    moved as (
      update runs set ${runColumns(plan, done, now)}
      from step where tenant_id = ${tenantId} and id = ${runId}
      returning 1)
    ${ended ? endOf(done, ofRun, branch, now) : sql``}
    ${plan.pause ? sql`, asked as (${pauseOf(ref, plan.pause, ctx.now(), sql`step`)})` : sql``}
    ${event ? sql`, sent as (${event.insert(sql`step`)})` : sql``}
    select ${event ? sql`(select generation from sent)` : sql`null::text`} as generation
      ${announced ? sql`, pg_notify(${RUN_CHANNEL}, ${runId})` : sql``}
    from moved`,
  )
  if (!written) return null
  notifyLocally(runId)
  if (plan.pause?.dueAt) dueBy(plan.pause.dueAt)
  if (ended) knowEnded(ref)
  else if (announced) hear(runId)
  return written
}

/** Inserts a plan's records in the order of the history, if `source` has a row. */
export function visitsOf({ tenantId, runId, branch }: WalkRef, { records }: Plan, source: Statement): Statement {
  return sql`
      insert into step_records (tenant_id, run_id, branch, step_id, visit, step_type, step_name, status, attempt,
        start_time, end_time, config, input_data, input_bytes, output_data, output_bytes, delta, error, error_code,
        handled, exit)
      select ${tenantId}, ${runId}, ${branch}, v."stepId", v.visit, v."stepType", v."stepName", v.status, v.attempt,
        v."startTime", v."endTime", v.config, v."inputData", v."inputBytes", v."outputData", v."outputBytes", v.delta,
        v.error, v."errorCode", v.handled, v.exit
      from ${source}, json_to_recordset(${JSON.stringify(records.map((record, ord) => ({ ord, ...record })))}::json) as v(
        ord int, "stepId" text, visit int, "stepType" text, "stepName" text, status text, attempt int,
        "startTime" timestamptz, "endTime" timestamptz, config json, "inputData" jsonb, "inputBytes" int,
        "outputData" jsonb, "outputBytes" int, delta jsonb, error text, "errorCode" text, handled boolean, exit text)
      order by v.ord`
}

/** Ends all walks of the run; a claim has ended its own already. */
function endOf(done: Done, ofRun: Statement, branch: string, now: string): Statement {
  const others = done.claims ? sql`and branch <> ${branch}` : sql``
  return sql`, ended as (update walks set status = 'ended', updated_at = ${now} from step where ${ofRun} ${others})`
}

/** The visit of a walk's cursor once a record says where it stands. */
export const CONSUMED = 0

/** The status of a walk once its plan is written. */
export function statusAfter({ ending, pause }: Plan): 'ended' | 'resting' | 'walking' {
  return ending ? 'ended' : pause ? 'resting' : 'walking'
}

/** Whether a plan ends the run or rests at a pause, so that nothing need drive the walk. Every process is told. */
export function isSettled(plan: Plan): boolean {
  return statusAfter(plan) !== 'walking'
}

function walkOf(
  { epoch, segment, engineRunId }: WalkClaim,
  { claims, cursor }: Done,
  ofWalk: Statement,
  plan: Plan,
  now: string,
): Statement {
  const status = statusAfter(plan)
  const before = claims === 'resting' ? segment - 1 : segment
  const current = sql`${ofWalk} and epoch = ${epoch} and segment = ${before}`
  const mine = sql`status = 'walking' and engine_run_id = ${engineRunId}`
  const there = cursor ? sql`and step_id = ${cursor.stepId} and visit = ${cursor.visit}` : sql``
  // A cursor serves once: whoever planned from it too, and comes later, does not find it any more.
  const at = plan.cursor ?? (cursor && { stepId: cursor.stepId, visit: CONSUMED })
  const next = at ? sql`step_id = ${at.stepId}, visit = ${at.visit},` : sql``
  if (!claims && status !== 'resting' && !plan.cursor) {
    return sql`materialized (
      select 1 from walks where exists (select from run) and ${current} and ${mine}
      for no key update)`
  }
  return sql`(
    update walks set status = ${status}, engine_run_id = ${status === 'resting' ? null : engineRunId},
      ${next} segment = ${segment}, updated_at = ${now}
    from run
    where ${current} ${there} and ${claims === 'resting' ? sql`status = 'resting'` : claims ? sql`(status = 'requested' or (${mine}))` : mine}
    returning 1)`
}

function stepOf({ tenantId, runId }: WalkClaim, { step: done }: Done, plan: Plan, ofWalk: Statement): Statement {
  if (!done) return sql`step as materialized (select 1 from walk)`
  const { at, outputData, outputBytes, delta, work, pauseId, given, exit, failure } = done
  const endedAt = done.endedAt.toISOString()
  const mine = work ? sql`and attempt = ${work.attempt}` : sql``
  const worked = work ? sql`attempts = ${jsonb(work.attempts)}, usage = ${work.usage && jsonb(work.usage)},` : sql``
  const outcome = failure
    ? sql`status = 'failed', handled = ${failure.handled || null}, error = ${failure.message}, error_code = ${failure.code}`
    : sql`status = 'completed'`
  const step = sql`step as (
      update step_records set ${worked} ${outcome}, exit = ${exit ?? null}, end_time = ${endedAt}, output_data = ${jsonb(outputData)},
        output_bytes = ${outputBytes}, delta = ${jsonb(delta)}, receipt = ${jsonb(plan.receipt)},
        change = nextval('changes')
      from walk
      where ${ofWalk} and step_id = ${at.stepId} and visit = ${at.visit} and end_time is null ${mine}
      returning 1)`
  if (pauseId === undefined) return step
  return sql`${step},
    answer as (
      update pauses set consumed_at = ${endedAt} ${
        given ? sql`, answered_at = ${endedAt}, answer = ${jsonb(given.answer)}, answered_by = ${given.by}` : sql``
      }
      from step
      where tenant_id = ${tenantId} and run_id = ${runId} and id = ${pauseId} and consumed_at is null)`
}

function runColumns({ data, stepId, ending, pause }: Plan, { claims }: Done, now: string): Statement {
  const change = sql`updated_at = ${now}, change = nextval('changes')`
  const moved = data === null ? change : sql`${change}, data = ${jsonb(data)}`
  const there = stepId === null ? moved : sql`${moved}, current_step_id = ${stepId}`
  if (pause?.signal) return sql`${there}, status = 'paused'`
  if (!ending) return claims === 'resting' ? sql`${there}, status = 'running'` : there
  const over = sql`${there}, status = ${ending.status}, outcome = ${ending.outcome}, end_time = ${now}`
  if (ending.status === 'completed')
    return sql`${over}, result = ${ending.result === null ? null : jsonb(ending.result)}`
  const failed = sql`${over}, error = ${jsonb(ending.error)}`
  return ending.cancellation ? sql`${failed}, cancellation = ${jsonb(ending.cancellation)}` : failed
}

/** Opens a pause, if `source` has a row. */
export function pauseOf(
  { tenantId, runId, branch }: WalkRef,
  { id, stepId, visit, signal, dueAt }: NewPause,
  now: Date,
  source: Statement,
): Statement {
  return sql`
      insert into pauses (tenant_id, id, run_id, branch, step_id, visit, kind, signal, due_at, created_at)
      select ${tenantId}, ${id}, ${runId}, ${branch}, ${stepId}, ${visit}::int, ${signal?.type ?? 'timer'},
        ${signal && JSON.stringify(signal)}::json, ${dueAt?.toISOString() ?? null}::timestamptz, ${now.toISOString()}::timestamptz
      from ${source}`
}
