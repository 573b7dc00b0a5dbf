import { jsonSize } from '../definition/json'
import type { Receipt, RunData } from '../definition/run'
import { ImpossibleState } from '../errors'
import { processWide } from '../process'
import { findStepType } from '../steps/registry'
import type { Begun } from './plan'
import type { RunRow } from './walk-state'

/** How a walk goes on that was claimed with the start of its run, or with an answer. */
interface Handover {
  receipt: Receipt
  begun: Begun | null
}

/** A run as it was written, with its data. */
interface Queued {
  run: RunRow
  data: RunData
}

/** The walks that this process has claimed in that way and not begun to drive. */
const waiting = () => processWide<Map<string, Handover>>('runs.began', () => new Map())

/** The runs that this process has started, without records of an earlier run, and whose walk waits for a free slot. */
const queued = () => processWide<Map<string, Queued>>('runs.queued', () => new Map())

/** Beyond, the oldest are forgotten: an engine stopped before it drove them, or another process did. */
const MOST = 500
/** Larger data is read again when its walk is claimed. */
const MOST_QUEUED_BYTES = 16 * 1024

/** Keeps how a walk goes on for the engine run that is about to drive it. */
export function keepHandover(engineRunId: string, began: Handover): void {
  keep(waiting(), engineRunId, began)
}

/** Keeps a run as it was written for whoever claims its walk in this process. */
export function keepQueued(engineRunId: string, started: Queued): void {
  if (jsonSize(started.data) <= MOST_QUEUED_BYTES) keep(queued(), engineRunId, started)
}

/** Takes it, once. Only what this process saw last: the claim confirms it. */
export function popQueued(engineRunId: string): Queued | null {
  const started = queued().get(engineRunId) ?? null
  queued().delete(engineRunId)
  return started
}

function keep<T>(all: Map<string, T>, engineRunId: string, value: T): void {
  all.set(engineRunId, value)
  const [oldest] = all.keys()
  if (all.size > MOST && oldest !== undefined) all.delete(oldest)
}

/**
 * Takes it, once. Null if another process claimed the walk, or long ago. The step's type is looked up again: Next
 * evaluates modules twice, and the errors a step throws are known only by the classes of the same evaluation.
 */
export function popHandover(engineRunId: string): Handover | null {
  const began = waiting().get(engineRunId)
  waiting().delete(engineRunId)
  if (!began?.begun) return began ?? null
  const type = findStepType(began.begun.type.type)
  if (type?.mode !== 'effect') throw new ImpossibleState('begun-of-no-effect', `${began.begun.type.type} does no work`)
  return { ...began, begun: { ...began.begun, type } }
}
