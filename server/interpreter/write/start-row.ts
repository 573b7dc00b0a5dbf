import type { runs } from '@/db/schema/runs'
import type { ServiceContext } from '../../context'
import { businessKeyOf } from '../../definition/business-key'
import { inStoredOrder, type JsonObject } from '../../definition/json'
import type { RunPart } from '../../definition/part'
import type { DataRef } from '../../definition/run'
import type { Definition } from '../../definition/schema'
import { newId } from '../../ids'
import type { WalkRef } from '../../run-store/names'
import { dataColumns, refsWith, type Written } from '../../run-store/run-data'
import type { RunRow } from '../../run-store/walk-data'
import { traceparent } from '../../telemetry/traces'
import type { Plan } from '../plan/types'
import type { SentRun } from './columns'
import { CURSOR_USED, statusAfter } from './commit'

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
  /** Where the fields of `data` that steps of the earlier run wrote are stored. */
  sources?: Record<string, Omit<DataRef, 'bytes'>>
  /** The fields of `data` that a user changed. */
  edits?: JsonObject
  /** The run whose step starts this one, and the id that the step gave it. */
  child?: { id: string; parent: RunRow }
  /** The run tries out a draft. */
  test?: boolean
  /** The part of its version that the run performs; null for all of it. `definition` is only that part. */
  part: RunPart | null
}

/** A run with its values. */
type WholeRow = typeof runs.$inferSelect

/** The data that a run starts with. */
export function begin({ input, data: given, sources = {} }: NewRun): Written & { input: JsonObject } {
  const started = stored(input)
  const data = given ? stored(given) : started
  if (!given) return { input: started, data, refs: refsWith({}, data, {}) }
  const refs = Object.entries(sources).map(([name, source]) => refsWith({}, { [name]: data[name] ?? null }, source))
  return { input: started, data, refs: Object.assign({}, ...refs) }
}

/** The row of a run as it starts. */
export function rowOf(ctx: ServiceContext, run: NewRun, { input, ...started }: ReturnType<typeof begin>): WholeRow {
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

/** In stored order, so that a walk sees the same whether or not its process wrote it. */
function stored(data: JsonObject): JsonObject {
  return inStoredOrder(data)
}

/** The run's part of the sent row, with the plan's changes. */
export function newRunRow(run: WholeRow, plan: Plan | null, now: Date): SentRun {
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

/** The walk's part of the sent row. */
export function newWalkRow(
  { branch, epoch, segment }: WalkRef,
  run: RunRow,
  engineRunId: string | null,
  plan: Plan | null,
) {
  const status = plan ? statusAfter(plan) : 'requested'
  return {
    branch,
    epoch,
    segment,
    walk_status: status,
    engine_run_id: status === 'walking' ? engineRunId : null,
    to_step: plan?.cursor?.stepId ?? run.currentStepId,
    to_visit: plan ? (plan.cursor?.visit ?? CURSOR_USED) : 1,
  }
}
