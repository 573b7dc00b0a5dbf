import { type JsonObject, type JsonValue, jsonSize } from '../definition/json'
import { processWide } from '../process'
import type { SealedSecret } from '../vault/masker'
import { wake } from './changes'
import type { Ending } from './close'
import type { Done, DoneStep } from './done'
import type { NewRecord, Plan } from './plan'
import { MAIN_BRANCH, type WalkRef } from './receipt'
import { dataColumns, type Written } from './run-data'
import type { RunRow } from './walk-state'

// What this process has written of the runs that somebody waits for here, so that the end of such a run is answered
// without reading it back. Nothing else relies on it: whatever it does not follow it forgets, and the run is then read.

export interface RememberedRun {
  run: RunRow
  data: JsonObject
  result: JsonValue
  records: readonly RememberedRecord[]
}

/** A record as it was inserted, and what completed it if that was written later. */
export interface RememberedRecord {
  inserted: NewRecord
  done: DoneStep | null
}

interface Memory {
  /** As it was inserted. */
  run: RunRow
  written: Written
  stepId: string | null
  records: RememberedRecord[]
  bytes: number
  /** Whether the commit that ends it is under way. */
  ending: boolean
  ended: { ending: Ending; at: Date; vault: SealedSecret[] } | null
}

const memories = () => processWide<Map<string, Memory>>('runs.remembered', () => new Map())

/** Beyond this, the oldest are forgotten. */
const MOST = 500
/** Larger runs are read back. */
const MOST_RECORDS = 100
const MOST_BYTES = 64 * 1024

/** What a start or a commit has written. */
interface Wrote {
  plan: Plan
  at: Date
  /** `SealedSecret[]` as JSON. Set if it ended a run that is remembered. */
  vault: string | undefined
}

/** Remembers a run from its start, which must have written no records but those of the plan. */
export function remember(run: RunRow, started: Written, wrote: Wrote | null): void {
  const all = memories()
  all.set(run.id, {
    run,
    written: started,
    stepId: run.currentStepId,
    records: [],
    bytes: jsonSize(started.data),
    ending: false,
    ended: null,
  })
  if (wrote) follow(run.id, null, wrote)
  const [oldest] = all.keys()
  if (all.size > MOST && oldest !== undefined) all.delete(oldest)
}

export function forget(runId: string): void {
  memories().delete(runId)
}

/**
 * Whether a plan ends a run that is remembered; then the commit reads the vault. Everyone's announcement of the end may
 * arrive before the commit returns here, and does not count until `settleEnd`.
 */
export function expectEnd({ runId, branch }: WalkRef, plan: Plan): boolean {
  const memory = memories().get(runId)
  if (!memory || plan.ending === null || branch !== MAIN_BRANCH) return false
  memory.ending = true
  return true
}

/** Wakes who waits for a run, whatever has become of the commit that was to end it. */
export function settleEnd(runId: string): void {
  const memory = memories().get(runId)
  if (memory) memory.ending = false
  wake(runId)
}

/** Whether this process will tell in a moment what has become of the run. */
export function isEndingHere(runId: string): boolean {
  return memories().get(runId)?.ending ?? false
}

/** Adds what a commit of a walk has written. */
export function rememberCommit({ runId, branch }: WalkRef, done: Done, wrote: Wrote): void {
  if (!memories().has(runId)) return
  if (branch !== MAIN_BRANCH || done.claims === 'resting') forget(runId)
  else follow(runId, done.step, wrote)
}

/**
 * A run that ended here and is known whole, with the vault that masks it; null for any other. Each walk has at most one
 * open record, and whoever else drove it would have completed the one that is open here. So if every record is
 * complete, none is missing.
 */
export function recall(runId: string): (RememberedRun & { vault: SealedSecret[] }) | null {
  const memory = memories().get(runId)
  if (!memory?.ended) return null
  const { run, records, written, stepId } = memory
  const { ending, at, vault } = memory.ended
  const { smallData, dataRefs } = dataColumns(written)
  if (dataRefs || jsonSize(smallData) > MOST_BYTES) return null
  const failure = ending.status === 'failed' ? ending : null
  return {
    run: {
      ...run,
      status: ending.status,
      outcome: ending.outcome,
      currentStepId: stepId,
      updatedAt: at,
      endTime: at,
      error: failure?.error ?? null,
      cancellation: failure?.cancellation ?? run.cancellation,
    },
    data: smallData,
    result: ending.status === 'completed' ? ending.result : null,
    records,
    vault,
  }
}

function follow(runId: string, step: DoneStep | null, wrote: Wrote): void {
  const memory = memories().get(runId)
  if (memory && !add(memory, step, wrote)) forget(runId)
}

/** @returns false if the memory does not follow from there */
function add(memory: Memory, step: DoneStep | null, { plan, at, vault }: Wrote): boolean {
  if (!isPlain(plan) || (step && !complete(memory, step))) return false
  for (const inserted of plan.records) {
    memory.records.push({ inserted, done: null })
    memory.bytes += inserted.inputBytes + (inserted.outputBytes ?? 0)
  }
  memory.written = plan.written ?? memory.written
  memory.stepId = plan.stepId ?? memory.stepId
  if (memory.bytes > MOST_BYTES || memory.records.length > MOST_RECORDS) return false
  if (plan.ending === null) return true
  if (!vault || memory.records.some(isOpen)) return false
  memory.ended = { ending: plan.ending, at, vault: JSON.parse(vault) }
  return true
}

/** Whether nothing follows but steps of this walk, or the end. */
function isPlain({ failing, pause, arrival, receipt }: Plan): boolean {
  return !failing && !pause && !arrival && !('fork' in receipt) && !('wait' in receipt)
}

function isOpen({ inserted, done }: RememberedRecord): boolean {
  return inserted.endTime === null && done === null
}

/** @returns false if it is not the one record that is open here */
function complete(memory: Memory, step: DoneStep): boolean {
  const last = memory.records.at(-1)
  if (!last || !isOpen(last)) return false
  if (last.inserted.stepId !== step.at.stepId || last.inserted.visit !== step.at.visit) return false
  last.done = step
  memory.bytes += step.outputBytes
  return true
}
