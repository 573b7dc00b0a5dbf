import { isBranch } from '../../definition/branches'
import type { Cancellation, Failing, Receipt } from '../../definition/run'
import type { Definition } from '../../definition/schema'
import { ImpossibleState } from '../../errors'
import { CLEANUP_BRANCH } from '../../run-store/names'
import type { Written } from '../../run-store/run-data'
import type { RunRow } from '../../run-store/walk-data'
import type { Ending, WalkState } from './types'

// Who stops a run, and how it then ends.

/** A held run that is to stop. */
export interface RunToStop {
  run: RunRow
  definition: Definition
  /** The run data to store, if it differs from what is stored. */
  written: Written | null
}

/** Whether a walk must stop because its run was cancelled; the cleanup path itself continues. */
export function isCancelling(state: WalkState): boolean {
  return state.run.cancelRequestedAt !== null && state.ref.branch !== CLEANUP_BRANCH
}

/** The run as a stop records it: what a branch has written is not part of the run's data. */
export function runToStop(state: WalkState): RunToStop & { ref: WalkState['ref'] } {
  const { run, definition, ref } = state
  return { run, definition, ref, written: isBranch(ref.branch) ? null : state }
}

/** Stops the walk. */
export const STOPPED = { receipt: { stop: 'ended' }, begun: null } as const satisfies { receipt: Receipt; begun: null }

const WORDS = {
  cancel: { outcome: 'cancelled', code: 'CANCELLED', verb: 'Cancelled' },
  terminate: { outcome: 'terminated', code: 'TERMINATED', verb: 'Terminated' },
} as const

/** The error of a stopped step and of its run. */
export function stopFailure({ kind, reason }: Pick<Cancellation, 'kind' | 'reason'>): {
  code: string
  message: string
} {
  const { code, verb } = WORDS[kind]
  return { code, message: reason ? `${verb}: ${reason}` : verb }
}

export function cancellationOf(run: RunRow): Cancellation {
  if (run.cancellation === null) throw new ImpossibleState('cancel-of-nobody', `${run.id} was not asked to stop`)
  return run.cancellation
}

/** How a run ends when its walk does: as cancelled after its cleanup path, and as failed after its failure path. */
export function endingOf({ run, ref }: Pick<WalkState, 'run' | 'ref'>, ending: Ending): Ending {
  if (ref.branch !== CLEANUP_BRANCH) return run.failing ? failedEnding(run.failing, ending) : ending
  const cleanup = ending.status === 'completed' ? 'completed' : 'failed'
  return stoppedEnding({ run, written: ending.written }, { ...cancellationOf(run), cleanup })
}

/** The end of a failure path ends the run with its earlier failure. */
function failedEnding({ outcome, ...error }: Failing, { written }: Ending): Ending {
  return { status: 'failed', outcome, written, error, stepId: error.stepId }
}

/** How a cancelled or terminated run ends. */
export function stoppedEnding(
  { run, written }: Pick<RunToStop, 'run' | 'written'>,
  cancellation: Cancellation,
): Ending {
  const error = { ...stopFailure(cancellation), stepId: run.currentStepId }
  return { status: 'failed', outcome: WORDS[cancellation.kind].outcome, written, error, cancellation, stepId: null }
}
