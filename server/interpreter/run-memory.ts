import type { StepUsage } from '../definition/agent'
import { type JsonObject, type JsonValue, jsonSize } from '../definition/json'
import type { Attempt } from '../definition/run'
import { processWide } from '../process'
import type { SealedSecret } from '../vault/masker'
import { wake } from './changes'
import type { Ending } from './close'
import type { Done, DoneStep } from './done'
import type { NewRecord, Plan } from './plan'
import { MAIN_BRANCH, type WalkRef } from './receipt'
import { dataColumns } from './run-data'
import type { RunRow } from './walk-state'

// What this process has written of the runs that somebody waits for here, so that the end of such a run is answered
// without reading it back. Nothing else relies on it: whatever it does not follow it forgets, and the run is then read.

export interface RememberedRun {
  run: RunRow
  data: JsonObject
  result: JsonValue
  records: RememberedRecord[]
}

export interface RememberedRecord extends Omit<NewRecord, 'config' | 'delta' | 'inputBytes' | 'outputBytes'> {
  attempts: Attempt[]
  usage: StepUsage | null
}

interface Memory extends RememberedRun {
  bytes: number
  /** Whether the commit that ends it is under way. */
  ending: boolean
  /** The vault as it was when the run ended; null while the run is open. */
  vault: SealedSecret[] | null
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
export function remember(run: RunRow, data: JsonObject, wrote: Wrote | null): void {
  const all = memories()
  all.set(run.id, { run, data, result: null, records: [], bytes: jsonSize(data), ending: false, vault: null })
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
  return memory?.vault ? { ...memory, vault: memory.vault } : null
}

function follow(runId: string, step: DoneStep | null, wrote: Wrote): void {
  const memory = memories().get(runId)
  if (memory && !add(memory, step, wrote)) forget(runId)
}

/** @returns false if the memory does not follow from there */
function add(memory: Memory, step: DoneStep | null, { plan, at, vault }: Wrote): boolean {
  if (!isPlain(plan) || (step && !complete(memory, step))) return false
  memory.records.push(...plan.records.map(remembered))
  for (const { inputBytes, outputBytes } of plan.records) memory.bytes += inputBytes + (outputBytes ?? 0)
  if (plan.written) {
    const { smallData, dataRefs } = dataColumns(plan.written)
    if (dataRefs) return false
    memory.data = smallData
  }
  memory.run = { ...memory.run, currentStepId: plan.stepId ?? memory.run.currentStepId, updatedAt: at }
  if (memory.bytes > MOST_BYTES || memory.records.length > MOST_RECORDS) return false
  return plan.ending === null || end(memory, plan.ending, at, vault)
}

/** Whether nothing follows but steps of this walk, or the end. */
function isPlain({ failing, pause, arrival, receipt }: Plan): boolean {
  return !failing && !pause && !arrival && !('fork' in receipt) && !('wait' in receipt)
}

/** @returns false if it is not the one record that is open here */
function complete(memory: Memory, step: DoneStep): boolean {
  const record = memory.records.at(-1)
  if (!record || record.endTime || record.stepId !== step.at.stepId || record.visit !== step.at.visit) return false
  const { failure, work } = step
  Object.assign(record, {
    status: failure ? 'failed' : 'completed',
    endTime: step.endedAt,
    outputData: step.outputData,
    error: failure?.message ?? null,
    errorCode: failure?.code ?? null,
    handled: failure?.handled || null,
    exit: step.exit ?? null,
    ...work,
  })
  memory.bytes += step.outputBytes
  return true
}

function remembered({ config: _config, delta: _delta, inputBytes: _in, outputBytes: _out, ...record }: NewRecord) {
  return { ...record, attempts: [], usage: null }
}

/** @returns false if it cannot be told whole */
function end(memory: Memory, ending: Ending, at: Date, vault: string | undefined): boolean {
  const isWhole = memory.records.every(({ endTime }) => endTime !== null)
  if (!vault || !isWhole || jsonSize(memory.data) > MOST_BYTES) return false
  const { status, outcome } = ending
  const failure = ending.status === 'failed' ? ending : null
  memory.run = {
    ...memory.run,
    status,
    outcome,
    endTime: at,
    error: failure?.error ?? null,
    cancellation: failure?.cancellation ?? memory.run.cancellation,
  }
  memory.result = ending.status === 'completed' ? ending.result : null
  memory.vault = JSON.parse(vault)
  return true
}
