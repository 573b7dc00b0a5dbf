import { jsonb, type Statement, send, sql } from '@/db/index'
import { afterCommit, type ServiceContext, systemContext } from '../context'
import { businessKeyOf } from '../definition/business-key'
import { inStoredOrder, type JsonObject } from '../definition/json'
import type { Definition } from '../definition/schema'
import { newId } from '../ids'
import { outgoing } from '../outbox'
import { RUN_CHANNEL } from './announce'
import { keepBegan } from './began'
import { CONSUMED, isSettled, pauseOf, statusAfter, visitsOf } from './commit'
import { dueBy } from './due-timer'
import { hear } from './heard'
import type { RunRow } from './place'
import { type Plan, planFrom } from './plan'
import type { WalkClaim, WalkRef } from './receipt'

export const MAIN_BRANCH = 'main'

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
  /** A draft is being tried out. */
  test?: boolean
}

/** What the caller believes of the workflow. The run is written only if it is still true. */
interface Belief {
  /** The published version, where that matters; null for none. */
  publishedVersion?: number | null
}

/**
 * Writes a run in one statement, if its workflow is not archived and still as the caller believes. With `plan`, and if
 * this process may drive the run at once, the statement also claims its walk and holds what follows from it: the steps
 * that compute, the first step that begins, or the end of the run. Otherwise the walk finds that out when it is claimed.
 * @returns the run's id; null if it was not written
 * @throws a foreign key's violation if the version no longer exists; what `permanentFailure` knows if Postgres refuses a
 * value of the plan
 */
export async function insertRun(
  ctx: ServiceContext,
  run: NewRun,
  belief: Belief = {},
  options: { plan: boolean } = { plan: false },
): Promise<string | null> {
  const row = rowOf(ctx, run)
  const ref = { tenantId: row.tenantId, runId: row.id, branch: MAIN_BRANCH, epoch: 1, segment: 1 }
  const event = outgoing(ctx, 'workflow/walk.requested', ref)
  try {
    const { engineRunId } = event
    const plan =
      options.plan && engineRunId !== null ? await planStart(ctx, row, run.definition, { ...ref, engineRunId }) : null
    const settled = plan !== null && isSettled(plan)
    if (settled) event.undone()
    const [written] = await send<{ generation: string | null }>(
      ctx.db,
      sql`
        with workflow as materialized (
          select 1 from workflows
          where tenant_id = ${row.tenantId} and id = ${row.workflowId} and status <> 'archived' ${stillTrue(belief)}),
        run as (${insertRow(row, plan, ctx.now())}),
        walk as (${insertWalk(ref, row, engineRunId, plan)})
        ${plan ? sql`, visits as (${visitsOf(ref, plan, sql`run`)})` : sql``}
        ${plan?.pause ? sql`, asked as (${pauseOf(ref, plan.pause, ctx.now(), sql`run`)})` : sql``}
        ${settled ? sql`` : sql`, sent as (${event.insert(sql`run`)})`}
        select ${settled ? announced(row) : sql`generation from sent`}`,
    )
    if (!written) {
      event.undone()
      return null
    }
    afterCommit(ctx, () => {
      if (plan?.pause?.dueAt) dueBy(plan.pause.dueAt)
      // A caller that waits need not wait to be told.
      if (settled) return hear(row.id)
      if (plan && engineRunId !== null) keepBegan(engineRunId, plan)
      event.committed(written.generation)
    })
    return row.id
  } catch (err) {
    event.undone()
    throw err
  }
}

/** What follows from a start. Null if that cannot be told now; the walk then finds out for itself, as often as it takes. */
async function planStart(
  ctx: ServiceContext,
  run: RunRow,
  definition: Definition,
  ref: WalkClaim,
): Promise<Plan | null> {
  const { tenantId, db, log, now } = ctx
  // It has no records yet, so it has visited nothing.
  const place = { run, ref, definition, data: run.data, outputs: {}, visits: {} }
  try {
    return await planFrom(systemContext({ tenantId, db, log, now }), place, run.currentStepId, {
      attempt: 1,
      rests: true,
    })
  } catch (err) {
    log.warn({ err, runId: run.id }, 'the first step of a run could not be planned with its start')
    return null
  }
}

function rowOf(ctx: ServiceContext, run: NewRun): RunRow {
  const now = ctx.now()
  const input = stored(run.input)
  return {
    tenantId: ctx.tenantId,
    id: newId('run'),
    workflowId: run.workflowId,
    workflowVersion: run.workflowVersion,
    workflowName: run.definition.name,
    businessKey: businessKeyOf(run.definition, input),
    status: 'running',
    outcome: null,
    input,
    data: run.data ? stored(run.data) : input,
    result: null,
    error: null,
    currentStepId: run.firstStep,
    context: run.context,
    startedBy: ctx.actor.id,
    startedVia: run.test ? 'test' : ctx.actor.kind,
    cancellation: null,
    cancelRequestedAt: null,
    cleanupStartedAt: null,
    retryOf: run.retryOf ?? null,
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

function stillTrue({ publishedVersion }: Belief): Statement {
  if (publishedVersion === undefined) return sql``
  return sql`and published_version is not distinct from ${publishedVersion}::int`
}

function insertRow(row: RunRow, plan: Plan | null, now: Date): Statement {
  const ending = plan?.ending ?? null
  const written = now.toISOString()
  return sql`
    insert into runs (tenant_id, id, workflow_id, workflow_version, workflow_name, business_key, status, outcome, input, data, result,
      error, current_step_id, context, started_by, started_via, retry_of, start_time, end_time, updated_at)
    select ${row.tenantId}, ${row.id}, ${row.workflowId}, ${row.workflowVersion}::int, ${row.workflowName}, ${row.businessKey},
      ${ending?.status ?? (plan?.pause?.signal ? 'paused' : row.status)}, ${ending?.outcome ?? null}, ${jsonb(row.input)}, ${jsonb(plan?.data ?? row.data)},
      ${ending?.status === 'completed' ? jsonb(ending.result) : sql`null`},
      ${ending?.status === 'failed' ? jsonb(ending.error) : sql`null`},
      ${plan?.stepId ?? row.currentStepId}, ${row.context === null ? sql`null` : jsonb(row.context)}, ${row.startedBy},
      ${row.startedVia}, ${row.retryOf}, ${row.startTime.toISOString()}::timestamptz,
      ${ending ? sql`${written}::timestamptz` : sql`null`}, ${written}::timestamptz
    from workflow
    returning 1`
}

function insertWalk(ref: WalkRef, row: RunRow, engineRunId: string | null, plan: Plan | null): Statement {
  const status = plan ? statusAfter(plan) : 'requested'
  return sql`
    insert into walks (tenant_id, run_id, branch, epoch, segment, status, engine_run_id, step_id, visit, updated_at)
    select ${ref.tenantId}, ${ref.runId}, ${ref.branch}, ${ref.epoch}::int, ${ref.segment}::int, ${status},
      ${status === 'walking' ? engineRunId : null}, ${plan?.cursor?.stepId ?? row.currentStepId},
      ${plan ? (plan.cursor?.visit ?? CONSUMED) : 1}::int, ${row.startTime.toISOString()}::timestamptz
    from run`
}

/** Ends and pauses of runs are announced to every process. */
function announced({ id }: RunRow): Statement {
  return sql`null::text as generation, pg_notify(${RUN_CHANNEL}, ${id}) from run`
}
