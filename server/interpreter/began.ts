import type { Receipt } from '../definition/run'
import { ImpossibleState } from '../errors'
import { processWide } from '../process'
import { findStepType } from '../steps/registry'
import type { Begun } from './plan'

/** How a walk goes on that was claimed with the start of its run, or with an answer. */
interface Began {
  receipt: Receipt
  begun: Begun | null
}

/** The walks that this process has claimed in that way and not begun to drive. */
const waiting = () => processWide<Map<string, Began>>('runs.began', () => new Map())

/** More than ever wait at once; beyond, the oldest were forgotten by an engine that stopped before it drove them. */
const MOST = 500

/** Keeps how a walk goes on for the engine run that is about to drive it. */
export function keepBegan(engineRunId: string, began: Began): void {
  const all = waiting()
  all.set(engineRunId, began)
  const [oldest] = all.keys()
  if (all.size > MOST && oldest !== undefined) all.delete(oldest)
}

/**
 * Takes it, once. Null if another process claimed the walk, or long ago. The step's type is looked up again: Next
 * evaluates modules twice, and the errors a step throws are known only by the classes of the same evaluation.
 */
export function takeBegan(engineRunId: string): Began | null {
  const began = waiting().get(engineRunId)
  waiting().delete(engineRunId)
  if (!began?.begun) return began ?? null
  const type = findStepType(began.begun.type.type)
  if (type?.mode !== 'effect') throw new ImpossibleState('begun-of-no-effect', `${began.begun.type.type} does no work`)
  return { ...began, begun: { ...began.begun, type } }
}
