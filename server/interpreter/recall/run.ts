import { processWide } from '@/db/process-wide'
import { type JsonObject, type JsonValue, jsonSize } from '../../definition/json'
import { MAIN_BRANCH, type WalkRef } from '../../run-store/names'
import { dataColumns, type Written } from '../../run-store/run-data'
import type { RunRow } from '../../run-store/walk-data'
import type { SealedSecret } from '../../vault/masker'
import type { Ending, Parked } from '../flow/types'
import { expectedChange, wake } from '../notice/watch'
import type { Done, DoneStep, NewPause, NewRecord, Plan } from '../plan/types'
import { recalls } from './switch'

// What this process has written of a run, to avoid reading it back: to answer callers that wait here for its end, and
// to continue with the answer to a question that this process has just asked. Nothing else relies on it: this process
// forgets a run that it cannot follow, and the run is then read.

export interface RememberedRun {
  run: RunRow
  data: JsonObject
  result: JsonValue
  records: readonly RememberedRecord[]
}

/** A record as inserted, and its completion if that was written later. */
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
  /** The pause at which the run waits, and the claim that opened it. */
  asked: { pause: NewPause; ref: WalkRef } | null
}

/** By run. Beyond the limits, the oldest are forgotten. */
const memories = () =>
  processWide('runs.remembered', () => ({
    /** Runs whose end a caller awaits here. */
    awaited: new Map<string, Memory>(),
    /** Runs that may ask a person, who may answer immediately. */
    asking: new Map<string, Memory>(),
  }))

const MAX = {
  awaited: 500,
  /** Few, because they stay: objects that survive for long cost more to forget. */
  asking: 16,
}
/** Larger runs are read back. */
const MAX_RECORDS = 100
const MAX_BYTES = 64 * 1024

/** The writes of a start or a commit. */
interface Wrote {
  plan: Plan
  at: Date
  /** `SealedSecret[]` as JSON. Set if it ended a run as `endIsBeingWritten` predicted. */
  vault: string | undefined
}

/**
 * Remembers a run from its start, which must have written no records but those of the plan.
 * @param why a caller awaits its end here, or it may ask a person
 */
export function track(ref: WalkRef, run: RunRow, started: Written, wrote: Wrote | null, why: keyof typeof MAX): void {
  keep(why, run.id, {
    run,
    written: started,
    stepId: run.currentStepId,
    records: [],
    bytes: jsonSize(started.data),
    ending: false,
    ended: null,
    asked: null,
  })
  if (wrote) apply(ref, null, wrote)
}

function keep(where: keyof typeof MAX, runId: string, memory: Memory): void {
  const all = memories()[where]
  all.set(runId, memory)
  const [oldest] = all.keys()
  if (all.size > MAX[where] && oldest !== undefined) all.delete(oldest)
}

function find(runId: string): Memory | undefined {
  if (!recalls()) return undefined
  const { awaited, asking } = memories()
  return awaited.get(runId) ?? asking.get(runId)
}

export function forget(runId: string): void {
  memories().awaited.delete(runId)
  memories().asking.delete(runId)
}

/**
 * Holds the known facts about a run for a caller that awaits its end from now on.
 * @returns whether any exist
 */
export function awaitEnd(tenantId: string, runId: string): boolean {
  const memory = find(runId)
  if (memory?.run.tenantId !== tenantId) return false
  forget(runId)
  keep('awaited', runId, memory)
  return true
}

/** Call when nobody waits for the run any more. */
export function stopAwaiting(runId: string): void {
  const memory = memories().awaited.get(runId)
  forget(runId)
  if (memory?.asked) keep('asking', runId, memory)
}

/**
 * Whether a plan ends a remembered run whose end a caller awaits or is about to await; then the commit reads the vault.
 * The announcement of the end may arrive before the commit returns here, and does not count until `endIsWritten`.
 */
export function endIsBeingWritten({ runId, branch }: WalkRef, plan: Plan): boolean {
  const memory = find(runId)
  if (!memory || plan.ending === null || branch !== MAIN_BRANCH) return false
  if (!memories().awaited.has(runId) && !expectedChange(runId)) return false
  memory.ending = true
  return true
}

/** Wakes the waiters for a run, whether or not the commit that was to end it succeeded. */
export function endIsWritten(runId: string): void {
  const memory = find(runId)
  if (memory) memory.ending = false
  wake(runId)
}

/** Whether this process is about to learn whether the run has ended. */
export function isEndingHere(runId: string): boolean {
  return find(runId)?.ending ?? false
}

/** Adds the writes of a walk's commit. */
export function rememberCommit(ref: WalkRef, done: Done, wrote: Wrote): void {
  const { runId, branch } = ref
  if (!find(runId)) return
  const isOver = wrote.plan.ending !== null && !memories().awaited.has(runId)
  if (branch !== MAIN_BRANCH || isOver) forget(runId)
  else apply(ref, done.step, wrote)
}

/**
 * The only open pause of a run that rests there, with everything that its answer needs, as it was when this process
 * opened it. The statement that stores an answer applies only if the run is unchanged.
 */
export function recallPause(tenantId: string, runId: string): (Parked & { pause: NewPause }) | null {
  const memory = find(runId)
  if (!memory?.asked || memory.run.tenantId !== tenantId) return null
  const { run, written, stepId, records, asked } = memory
  const open = records.at(-1)
  if (!open || !isOpen(open) || Object.keys(written.refs).length > 0) return null
  const { pause, ref } = asked
  return {
    run: { ...run, status: 'paused', currentStepId: stepId },
    written,
    walk: ref,
    record: open.inserted,
    pauseId: pause.id,
    pause,
  }
}

/**
 * A run that ended here and is known completely, with the vault that masks it; null for any other. Each walk has at
 * most one open record, and any other process driving it would have completed the one that is open here. So if every
 * record is complete, none is missing.
 */
export function recallRun(runId: string): (RememberedRun & { vault: SealedSecret[] }) | null {
  const memory = find(runId)
  if (!memory?.ended) return null
  const { run, records, written, stepId } = memory
  const { ending, at, vault } = memory.ended
  const { smallData, dataRefs } = dataColumns(written)
  if (dataRefs || jsonSize(smallData) > MAX_BYTES) return null
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

function apply(ref: WalkRef, step: DoneStep | null, wrote: Wrote): void {
  const memory = find(ref.runId)
  if (memory && !add(memory, ref, step, wrote)) forget(ref.runId)
}

/** @returns false if the memory does not lead up to this */
function add(memory: Memory, ref: WalkRef, step: DoneStep | null, { plan, at, vault }: Wrote): boolean {
  // It was moved to another version since it asked, by another process.
  if (memory.asked && memory.asked.ref.epoch !== ref.epoch) return false
  if (!isPlain(plan) || (step && !complete(memory, step))) return false
  for (const inserted of plan.records) {
    memory.records.push({ inserted, done: null })
    memory.bytes += inserted.inputBytes + (inserted.outputBytes ?? 0)
  }
  memory.written = plan.written ?? memory.written
  memory.stepId = plan.stepId ?? memory.stepId
  memory.asked = plan.pause && { pause: plan.pause, ref }
  if (memory.bytes > MAX_BYTES || memory.records.length > MAX_RECORDS) return false
  if (plan.ending === null) return true
  if (!vault || memory.records.some(isOpen)) return false
  memory.ended = { ending: plan.ending, at, vault: JSON.parse(vault) }
  return true
}

/**
 * Whether the plan contains only steps of this walk, a question to a person, or the end. A question with reminders
 * changes while it waits: its record, and who may answer it.
 */
function isPlain({ failing, pause, arrival, receipt }: Plan): boolean {
  return (
    !failing &&
    (pause === null || (pause.signal !== null && !pause.signal.reminders)) &&
    !arrival &&
    !('fork' in receipt) &&
    !('wait' in receipt)
  )
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
  memory.bytes += step.outputBytes ?? 0
  return true
}
