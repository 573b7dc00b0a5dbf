import { jsonSize } from '../definition/json'
import type { Receipt, RunData } from '../definition/run'
import { ImpossibleState } from '../errors'
import { processWide } from '../process'
import type { RunRow } from '../run-store/walk-data'
import { findStepType } from '../steps/registry'
import type { Begun } from './plan'

/** How a walk continues that was claimed together with the start of its run, or with an answer. */
interface Handover {
  receipt: Receipt
  begun: Begun | null
}

/** A run as it was written, with its data. */
interface Queued {
  run: RunRow
  data: RunData
}

/** The walks that this process has claimed in this way and does not drive yet. */
const waiting = () => processWide<Map<string, Handover>>('runs.began', () => new Map())

/** The runs that this process has started, without records of an earlier run, and whose walk waits for a free slot. */
const queued = () =>
  processWide('runs.queued', () => ({ runs: new Map<string, Queued & { bytes: number }>(), bytes: 0 }))

/** Beyond this, the oldest are dropped: the engine stopped before it drove them, or another process drives them. */
const MOST = 500
/**
 * The same for queued runs. Those that were started first are claimed first, so this must hold a long queue: one that
 * drops its head would never be of use.
 */
const MOST_QUEUED = 10_000
const MOST_QUEUED_BYTES = 16 * 1024 * 1024
/** Larger data is read again when its walk is claimed. */
const LARGEST_BYTES = 16 * 1024

/** Keeps how a walk continues, for the engine run that is about to drive it. */
export function keepHandover(engineRunId: string, began: Handover): void {
  keep(waiting(), engineRunId, began)
}

/** Keeps a run as it was written, for the claim of its walk in this process. */
export function keepQueued(engineRunId: string, started: Queued): void {
  const bytes = jsonSize(started.data)
  if (bytes > LARGEST_BYTES) return
  const all = queued()
  all.runs.set(engineRunId, { ...started, bytes })
  all.bytes += bytes
  while (all.runs.size > MOST_QUEUED || all.bytes > MOST_QUEUED_BYTES) {
    const [oldest] = all.runs.keys()
    if (oldest === undefined) return
    popQueued(oldest)
  }
}

/** Removes and returns it. It is what this process saw last, so the claim must confirm it. */
export function popQueued(engineRunId: string): Queued | null {
  const all = queued()
  const started = all.runs.get(engineRunId)
  if (!started) return null
  all.runs.delete(engineRunId)
  all.bytes -= started.bytes
  return started
}

function keep<T>(all: Map<string, T>, engineRunId: string, value: T): void {
  all.set(engineRunId, value)
  const [oldest] = all.keys()
  if (all.size > MOST && oldest !== undefined) all.delete(oldest)
}

/**
 * Removes and returns it. Null if another process claimed the walk, or if it was dropped. The step's type is looked up
 * again: Next evaluates modules twice, and errors thrown by a step can be recognised only by the classes of the same
 * evaluation.
 */
export function popHandover(engineRunId: string): Handover | null {
  const began = waiting().get(engineRunId)
  waiting().delete(engineRunId)
  if (!began?.begun) return began ?? null
  const type = findStepType(began.begun.type.type)
  if (type?.mode !== 'effect') throw new ImpossibleState('begun-of-no-effect', `${began.begun.type.type} does no work`)
  return { ...began, begun: { ...began.begun, type } }
}
