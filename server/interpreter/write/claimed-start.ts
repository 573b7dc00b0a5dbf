import { processWide } from '@/db/process-wide'
import type { Receipt } from '../../definition/run'
import { ImpossibleState } from '../../errors'
import { findStepType } from '../../steps/registry'
import type { StartedAttempt } from '../plan/types'

/** How a walk continues that was claimed together with the start of its run, or with an answer. */
interface ClaimedStart {
  receipt: Receipt
  begun: StartedAttempt | null
}

/** The walks that this process has claimed in this way and does not drive yet. */
const waiting = () => processWide<Map<string, ClaimedStart>>('runs.began', () => new Map())

/** Beyond this, the oldest are dropped: the engine stopped before driving them, or another process drives them. */
const MAX = 500

/** Stores how a walk continues, for the engine run that is about to drive it. */
export function keepClaimed(engineRunId: string, began: ClaimedStart): void {
  const all = waiting()
  all.set(engineRunId, began)
  const [oldest] = all.keys()
  if (all.size > MAX && oldest !== undefined) all.delete(oldest)
}

/**
 * Removes and returns it. Null if another process claimed the walk, or if it was dropped. Looks up the step's type
 * again: Next evaluates modules twice, and errors thrown by a step can be recognised only by the classes of the same
 * evaluation.
 */
export function takeClaimed(engineRunId: string): ClaimedStart | null {
  const began = waiting().get(engineRunId)
  waiting().delete(engineRunId)
  if (!began?.begun) return began ?? null
  const type = findStepType(began.begun.type.type)
  if (type?.mode !== 'effect') throw new ImpossibleState('begun-of-no-effect', `${began.begun.type.type} does no work`)
  return { ...began, begun: { ...began.begun, type } }
}
