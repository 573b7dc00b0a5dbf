import { sendRow } from '@/db/index'
import type { runs } from '@/db/schema/runs'
import { afterCommit, type ServiceContext, systemContext } from '../context'
import { businessKeyOf } from '../definition/business-key'
import { inStoredOrder, type JsonObject } from '../definition/json'
import type { RunPart } from '../definition/part'
import type { DataRef } from '../definition/run'
import type { Definition } from '../definition/schema'
import { newId } from '../ids'
import { count } from '../measures'
import { type Outgoing, outgoing, type Slot } from '../outbox'
import { MAIN_BRANCH, type WalkClaim, type WalkRef } from '../run-store/names'
import { dataColumns, refsWith, type Written } from '../run-store/run-data'
import type { RunRow } from '../run-store/walk-data'
import { traced, traceparent } from '../traces'
import { asksPeople } from './asks-people'
import { childDue } from './child-due'
import { CONSUMED, isSettled, statusAfter } from './commit'
import { dueBy } from './due-timer'
import { keepHandover, keepQueued } from './handover'
import { insertStatement, type SentRun } from './insert-sql'
import { noteChange } from './last-changes'
import { watchPause } from './look-for-events'
import { type Plan, planFrom } from './plan'
import { callerToCheck, followingOf, followingRow, type Sent, settleRecalled } from './rows'
import { remember } from './run-memory'
import { noteWritten } from './young'

export interface NewRun {
  workflowId: string
  workflowVersion: number
  definition: Definition
  input: JsonObject
  /** The run data to start with; the input unless the run continues another one. */
  data?: JsonObject
  firstStep: string
  context: JsonObject | null
  retryOf?: string
  /** Where the fields of `data` are stored that steps of the earlier run wrote. */
  sources?: Record<string, Omit<DataRef, 'bytes'>>
  /** The fields of `data` that somebody changed. */
  edits?: JsonObject
  /** The run whose step starts this one, and the id that the step gave it. */
  child?: { id: string; parent: RunRow }
  /** A draft is being tried out. */
  test?: boolean
  /** What the run performs of its version; null for all of it. `definition` is only that. */
  part: RunPart | null
}

/** What the caller has read of the workflow. The run is written only if that is still true. */
interface ExpectedWorkflow {
  /** The published version, where that matters; null for none. */
  publishedVersion?: number | null
}

interface InsertOptions {
  plan: boolean
  /** Somebody waits here for its end, which is then answered from memory if possible. */
  remember?: boolean | undefined
  /** Already kept for the run. */
  slot?: Slot | null
}

/**
 * Writes a run in one statement, if its workflow is not archived and has not changed since the caller read it. With
 * `plan`, and if this process may drive the run at once, the statement also claims its walk and writes what follows:
 * the steps that compute, the first step that begins, or the end of the run. Otherwise that is planned when the walk is
 * claimed.
 * @returns the run's id; null if it was not written
 * @throws a foreign key's violation if the version no longer exists; what `permanentFailure` knows if Postgres refuses
 * a value of the plan
 */
export function insertRun(
  ctx: ServiceContext,
  run: NewRun,
  belief: ExpectedWorkflow = {},
  options: InsertOptions = { plan: false },
): Promise<string | null> {
  return traced(
    () => ({
      name: 'start run',
      kind: 'producer',
      attributes: { 'millrace.tenant.id': ctx.tenantId, 'millrace.workflow.id': run.workflowId },
      // The request that made its parent run has ended, and the parent's step is what starts it.
      ...(run.child ? { parent: run.child.parent.traceparent } : {}),
    }),
    async (note) => {
      const runId = await writeRun(ctx, run, belief, options)
      if (runId !== null) note({ 'millrace.run.id': runId })
      return runId
    },
  )
}

async function writeRun(
  ctx: ServiceContext,
  run: NewRun,
  belief: ExpectedWorkflow,
  options: InsertOptions,
): Promise<string | null> {
  const started = begin(run)
  const row = rowOf(ctx, run, started)
  const ref = { tenantId: row.tenantId, runId: row.id, branch: MAIN_BRANCH, epoch: 1, segment: 1 }
  const event = outgoing(ctx, 'workflow/walk.requested', ref, options.slot)
  let due: Outgoing | null = null
  try {
    const { engineRunId } = event
    const plan =
      options.plan && engineRunId !== null
        ? await planStart(ctx, row, started, run.definition, { ...ref, engineRunId })
        : null
    const settled = plan !== null && isSettled(plan)
    if (settled) event.undone()
    due = plan && childDue(ctx, ref, plan)
    const sent = settled ? due : event
    const why = run.retryOf || row.dataRefs ? null : whyRemember(run, options)
    const recalls = why === 'awaited' && plan?.ending != null
    const at = ctx.now()
    const caller = callerToCheck(ctx)
    const following = { plan, sent, caller }
    const statement = insertStatement({ settles: settled, ...followingOf(following, recalls) })
    const written = await sendRow<Sent>(ctx.db, statement, row.id, {
      ...runRow(row, plan, at),
      believes: belief.publishedVersion !== undefined,
      published_version: belief.publishedVersion,
      ...walkRow(ref, row, engineRunId, plan),
      ...followingRow(following),
    })
    if (!written) {
      event.undone()
      due?.undone()
      return null
    }
    if (caller) caller.confirmed = true
    settleRecalled(plan?.begun ?? null, written)
    noteWritten(ctx, 'runs')
    if (plan?.pause) noteWritten(ctx, 'pauses')
    afterCommit(ctx, () => {
      count('millrace_runs_started_total', { via: row.startedVia })
      if (plan?.ending) count('millrace_runs_ended_total', { outcome: plan.ending.outcome })
      if (row.timeoutAt) dueBy(row.timeoutAt)
      if (plan?.pause) watchPause(ctx, ref, plan.pause)
      due?.committed(written.generation)
      if (why) remember(ref, row, started, plan && { plan, at, vault: written.vault }, why)
      // So a waiting caller does not have to wait for the notification.
      if (settled) return noteChange(row.id)
      if (plan && engineRunId !== null) keepHandover(engineRunId, plan)
      else if (options.plan && event.queuedAs !== null) keepQueued(event.queuedAs, { run: row, data: started.data })
      event.committed(written.generation)
    })
    return row.id
  } catch (err) {
    event.undone()
    due?.undone()
    throw err
  }
}

function whyRemember({ definition }: NewRun, options: InsertOptions): 'awaited' | 'asking' | null {
  if (options.remember) return 'awaited'
  return asksPeople(definition) ? 'asking' : null
}

/** What follows from a start. Null if it cannot be planned now; it is then planned when the walk is claimed. */
async function planStart(
  ctx: ServiceContext,
  run: RunRow,
  started: Written,
  definition: Definition,
  ref: WalkClaim,
): Promise<Plan | null> {
  const { tenantId, db, log, now } = ctx
  // It has no records yet, so it has visited nothing.
  const state = { run, ref, definition, data: started.data, refs: started.refs, own: null, outputs: {}, visits: {} }
  try {
    return await planFrom(systemContext({ tenantId, db, log, now }), state, run.currentStepId, {
      attempt: 1,
      rests: true,
    })
  } catch (err) {
    log.warn({ err, runId: run.id }, 'the first step of a run could not be planned with its start')
    return null
  }
}

/** A run with its values. */
type WholeRow = typeof runs.$inferSelect

/** The data that a run starts with. */
function begin({ input, data: given, sources = {} }: NewRun): Written & { input: JsonObject } {
  const started = stored(input)
  const data = given ? stored(given) : started
  if (!given) return { input: started, data, refs: refsWith({}, data, {}) }
  const refs = Object.entries(sources).map(([name, source]) => refsWith({}, { [name]: data[name] ?? null }, source))
  return { input: started, data, refs: Object.assign({}, ...refs) }
}

function rowOf(ctx: ServiceContext, run: NewRun, { input, ...started }: ReturnType<typeof begin>): WholeRow {
  const now = ctx.now()
  const parent = run.child?.parent
  const timeoutMs = run.definition.limits?.timeoutMs
  return {
    tenantId: ctx.tenantId,
    id: run.child?.id ?? newId('run'),
    workflowId: run.workflowId,
    workflowVersion: run.workflowVersion,
    workflowName: run.definition.name,
    businessKey: businessKeyOf(run.definition, input),
    status: 'running',
    outcome: null,
    input,
    ...dataColumns(started),
    result: null,
    error: null,
    failing: null,
    currentStepId: run.firstStep,
    context: run.context,
    startedBy: parent?.startedBy ?? ctx.actor.id,
    startedVia: parent?.startedVia ?? (run.test ? 'test' : ctx.actor.kind),
    cancellation: null,
    cancelRequestedAt: null,
    cleanupStartedAt: null,
    writtenAt: null,
    timeoutAt: timeoutMs === undefined ? null : new Date(now.getTime() + timeoutMs),
    retryOf: run.retryOf ?? null,
    edits: run.edits && Object.keys(run.edits).length > 0 ? run.edits : null,
    part: run.part,
    parentRunId: parent?.id ?? null,
    traceparent: traceparent(),
    depth: parent ? parent.depth + 1 : 0,
    startTime: now,
    endTime: null,
    updatedAt: now,
    change: 0,
  }
}

/** As it will be read back, so that a walk sees the same whether or not its process wrote it. */
function stored(data: JsonObject): JsonObject {
  return inStoredOrder(data) as JsonObject
}

function runRow(run: WholeRow, plan: Plan | null, now: Date): SentRun {
  const ending = plan?.ending
  const { smallData, dataRefs } = plan?.written ? dataColumns(plan.written) : run
  return {
    at: now,
    tenant_id: run.tenantId,
    run_id: run.id,
    workflow_id: run.workflowId,
    workflow_version: run.workflowVersion,
    workflow_name: run.workflowName,
    business_key: run.businessKey,
    run_status: ending?.status ?? (plan?.pause?.signal ? 'paused' : run.status),
    outcome: ending?.outcome,
    input: run.input,
    data: smallData,
    data_refs: dataRefs,
    result: ending?.status === 'completed' ? ending.result : null,
    error: ending?.status === 'failed' ? ending.error : null,
    failing: plan?.failing,
    current_step_id: plan?.stepId ?? run.currentStepId,
    context: run.context,
    started_by: run.startedBy,
    started_via: run.startedVia,
    retry_of: run.retryOf,
    edits: run.edits,
    part: run.part,
    parent_run_id: run.parentRunId,
    traceparent: run.traceparent,
    depth: run.depth,
    timeout_at: run.timeoutAt,
    start_time: run.startTime,
    end_time: ending ? now : null,
  }
}

function walkRow({ branch, epoch, segment }: WalkRef, run: RunRow, engineRunId: string | null, plan: Plan | null) {
  const status = plan ? statusAfter(plan) : 'requested'
  return {
    branch,
    epoch,
    segment,
    walk_status: status,
    engine_run_id: status === 'walking' ? engineRunId : null,
    step_id: plan?.cursor?.stepId ?? run.currentStepId,
    visit: plan ? (plan.cursor?.visit ?? CONSUMED) : 1,
  }
}
