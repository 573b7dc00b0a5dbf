import { encodeRow } from '@/db/index'
import type { CachedCaller, ServiceContext } from '../../context'
import type { Outgoing } from '../../outbox'
import { dataColumns } from '../../run-store/run-data'
import type { Asked } from '../../steps/define-step'
import type { Ending } from '../flow/types'
import type { DoneStep, NewPause, NewRecord, Plan } from '../plan/types'
import { VISIT_COLUMNS } from './columns'
import { BEGIN_VISIT, INSERT_VISITS, NOTIFY, OPEN_PAUSE, SEND, TOOL_STAMP, VAULT } from './parts'
import type { Output, Part } from './types'

/** The writes that a start and a commit share. */
export interface Following {
  /** Null if it is not known yet. */
  plan: Plan | null
  sent: Outgoing | null | undefined
  /** Of a caller whose key was not read before. */
  caller: CachedCaller | null
}

/** The parts that insert the visits of a plan. */
export function visitParts({ plan }: Following): Part[] {
  const records = plan?.records ?? []
  if (records.length === 0) return []
  return [records.length === 1 && records[0]?.status === 'running' ? BEGIN_VISIT : INSERT_VISITS]
}

/** The parts that open the pause of a plan, and send the event. */
export function closingParts({ plan, sent }: Following): Part[] {
  return [...(plan?.pause ? [OPEN_PAUSE] : []), ...(sent ? [SEND[sent.place]] : [])]
}

/**
 * @param recalls whether the end of the run is answered from memory, masked with the vault of this snapshot
 * @param notifies whether to notify every process about the run
 */
export function outputsOf(
  { plan }: Following,
  { recalls, notifies }: { recalls: boolean; notifies: boolean },
): Output[] {
  return [...(plan?.begun?.recalled ? [TOOL_STAMP] : []), ...(recalls ? [VAULT] : []), ...(notifies ? [NOTIFY] : [])]
}

/** The values for these parts. */
export function followingRow({ plan, sent, caller }: Following): object {
  return {
    ...visitsRow(plan?.records ?? []),
    ...pauseRow(plan?.pause ?? null),
    ...sent?.row(),
    tool_id: plan?.begun?.recalled?.toolId,
    ...(caller && { key_hash: caller.keyHash, key_role: caller.role }),
  }
}

function visitsRow(records: readonly NewRecord[]): object {
  const [first] = records
  if (records.length === 1 && first?.status === 'running') return visitRow(first)
  return records.length === 0 ? {} : { visits: records.map((record) => encodeRow(VISIT_COLUMNS, visitRow(record))) }
}

function visitRow(record: NewRecord) {
  return {
    new_step: record.stepId,
    new_visit: record.visit,
    new_type: record.stepType,
    new_name: record.stepName,
    new_status: record.status,
    new_attempt: record.attempt,
    new_start: record.startTime,
    new_end: record.endTime,
    new_config: record.config,
    new_input: record.inputData,
    new_input_bytes: record.inputBytes,
    new_output: record.outputData,
    new_output_bytes: record.outputBytes,
    new_delta: record.delta,
    new_error: record.error,
    new_error_code: record.errorCode,
    new_handled: record.handled,
    new_exit: record.exit,
    new_attempts: record.attempts,
  }
}

export function pauseRow(pause: NewPause | null) {
  if (!pause) return {}
  const { id, stepId, visit, signal, dueAt, remindAt, event, childRunId } = pause
  return {
    pause_id: id,
    pause_step: stepId,
    pause_visit: visit,
    pause_kind: kindOf(pause),
    pause_signal: signal,
    pause_due: dueAt ?? null,
    child_run_id: childRunId,
    pause_remind: remindAt,
    ...(event ? { wait_name: event.name, wait_key: event.key, wait_rules: event.rules } : {}),
  }
}

/** The kind of event that a pause waits for. */
export function kindOf({ signal, event, childRunId }: Pick<Asked, 'signal' | 'event' | 'childRunId'>) {
  return signal?.type ?? (event ? 'event' : childRunId ? 'run' : 'timer')
}

/** The run's data and step, if they change. */
export function dataRow({ written, stepId }: Pick<Plan, 'written' | 'stepId'>): object {
  const stored = written && dataColumns(written)
  return { data: stored?.smallData, data_refs: stored?.dataRefs, current_step_id: stepId }
}

export function endingRow(ending: Ending): object {
  const over = { ...dataRow(ending), run_status: ending.status, outcome: ending.outcome }
  if (ending.status === 'completed') return { ...over, result: ending.result }
  return { ...over, error: ending.error, cancellation: ending.cancellation }
}

/** A completed visit, and the answer that it took. */
export function visitDoneRow(
  { at, endedAt, delta, work, failure, given, ...step }: DoneStep,
  { receipt }: Pick<Plan, 'receipt'>,
) {
  return {
    step_id: at.stepId,
    visit: at.visit,
    attempt: work?.attempt,
    attempts: work?.attempts,
    usage: work?.usage,
    step_status: failure ? 'failed' : 'completed',
    handled: failure?.handled || null,
    step_error: failure?.message,
    step_error_code: failure?.code,
    exit: step.exit,
    ended_at: endedAt,
    output_data: step.outputData,
    output_bytes: step.outputBytes,
    delta,
    receipt,
    answered_pause: step.pauseId,
    answer: given?.answer,
    answered_by: given?.by,
  }
}

/** The caller of a statement that is about to be sent, if it has to check their key. */
export function callerToCheck({ cachedCaller }: ServiceContext): CachedCaller | null {
  if (cachedCaller?.verified !== false) return null
  cachedCaller.sent = true
  return cachedCaller
}

/** The result of a statement for a row. */
export interface Returned {
  generation: string | null
  /** Null if the tool was deleted. */
  tool_stamp?: string | null
  /** From `STORED`. */
  stored?: boolean
  /** `SealedSecret[]` as JSON, if the statement reads it. */
  vault?: string
}
