import { sendBatched } from '@/db/index'
import { afterCommit } from '../../context'
import type { Arrival, Receipt } from '../../definition/run'
import { type Outgoing, outgoing } from '../../outbox'
import { type Held, requireHeld } from '../../run-store/held'
import type { Visit, WalkRef } from '../../run-store/names'
import type { Written } from '../../run-store/run-data'
import type { DoneStep, NewPause } from '../plan/types'
import { HELD } from './fences'
import { FINISH_VISIT, MOVE_RUN, MOVE_WALK, NOTIFY, OPEN_PAUSE, SEND, TAKE_ANSWER } from './parts'
import { dataRow, pauseRow, type Returned, visitDoneRow } from './rows'
import { statementOf } from './statement'
import type { Output, Part } from './types'

/** A change by a transaction that holds the run. */
interface HeldChange {
  parts: readonly Part[]
  outputs?: readonly Output[]
  /** Sent if and only if the rest is written. */
  event?: Outgoing | null
  row: object
}

/**
 * Changes a held run, by the parts of one statement.
 * @returns null if the run had ended, so that nothing was written
 */
export async function changeHeld(
  tx: Held,
  { tenantId, runId, branch }: { tenantId: string; runId: string; branch?: string },
  { parts, outputs = [], event, row }: HeldChange,
): Promise<Returned | null> {
  requireHeld(tx, runId)
  const all = event ? [...parts, SEND[event.place]] : parts
  const statement = statementOf({ fence: HELD, checksKey: false, parts: all, outputs })
  const place = { tenant_id: tenantId, run_id: runId, branch, at: tx.now() }
  const written = await sendBatched<Returned>(tx.db, statement, runId, { ...place, ...event?.row(), ...row })
  if (!written) event?.notWritten()
  else if (event) afterCommit(tx, () => event.committed(written.generation))
  return written
}

/** A visit that failed without an output. */
export function failedStep(at: Visit, failure: { code: string; message: string }, endedAt: Date): DoneStep {
  return { at, endedAt, outputData: {}, outputBytes: null, delta: null, failure: { ...failure, handled: false } }
}

/** Records a visit as done, and takes its answer if it names a pause. The next steps are written separately. */
export async function finishVisit(tx: Held, ref: WalkRef, step: DoneStep, receipt: Receipt): Promise<void> {
  const parts = step.pauseId === undefined ? [FINISH_VISIT] : [FINISH_VISIT, TAKE_ANSWER]
  await changeHeld(tx, ref, { parts, row: visitDoneRow(step, { receipt }) })
}

/** Opens a pause at which an engine run waits. */
export async function openPause(tx: Held, ref: WalkRef, pause: NewPause): Promise<void> {
  const moved = { current_step_id: pause.stepId, run_status: pause.signal ? 'paused' : null }
  const event = pause.childRunId
    ? outgoing(tx, 'workflow/child.due', { tenantId: ref.tenantId, runId: pause.childRunId })
    : null
  const parts = [OPEN_PAUSE, MOVE_RUN]
  await changeHeld(tx, ref, { parts, outputs: [NOTIFY], event, row: { ...pauseRow(pause), ...moved } })
}

/** Continues the run, with its status or data changed if they are passed. */
export async function moveRun(
  tx: Held,
  run: { tenantId: string; runId: string },
  { status, written = null }: { status?: 'running'; written?: Written | null },
  outputs: readonly Output[] = [],
): Promise<void> {
  await changeHeld(tx, run, {
    parts: [MOVE_RUN],
    outputs,
    row: { ...dataRow({ written, stepId: null }), run_status: status },
  })
}

/**
 * Call when something about a run has changed outside its row: notifies every process, and makes readers see it as
 * newer.
 */
export async function touchRun(tx: Held, runId: string): Promise<void> {
  await moveRun(tx, { tenantId: tx.tenantId, runId }, {}, [NOTIFY])
}

/** The changes of a walk. */
interface WalkChange {
  status?: 'walking' | 'resting' | 'waiting' | 'ended'
  engineRunId?: string
  stepId?: string | null
  /** How a branch has ended. */
  arrival?: Arrival
}

export async function moveWalk(
  tx: Held,
  walk: Pick<WalkRef, 'tenantId' | 'runId' | 'branch'>,
  { status, engineRunId, stepId, arrival }: WalkChange,
): Promise<void> {
  const row = { walk_status: status, engine_run_id: engineRunId, to_step: stepId, arrival }
  await changeHeld(tx, walk, { parts: [MOVE_WALK], row })
}
