import type { JsonObject, JsonValue } from '../../definition/json'
import type { PauseAnswer, RunError } from '../../definition/run'
import type { Place, Way } from '../../definition/verdict'
import { MAIN_BRANCH } from '../../run-store/names'
import type { Failure } from './source'

/** A visit, as a run recorded it. */
export interface Fact extends Place {
  type: string
  /** When it began; null if that is not known. */
  start: string | null
  /** What the step did or asked: its configuration, filled in. Null if that is not known. */
  asked: JsonObject | null
  came: FactCame
  /** The name under which it saved its output, if that is no object. */
  savedAs?: string
}

/**
 * What came of a visit. It says nothing about the step where another branch stopped it, where it is still open, or where
 * it ended for a reason outside itself.
 */
export type FactCame =
  | { output: JsonValue }
  | { answer: PauseAnswer }
  | { failed: Failure }
  | 'stopped'
  | 'open'
  | 'never'

/** What a run recorded, as far as a walk needs it. */
export interface Facts {
  input: JsonObject
  /** Fields that people changed by hand, before the visit where that took effect. */
  edits: { before: Place; data: JsonObject }[]
  /** The visits of effects, pauses and children, in the order in which they began. */
  visits: Fact[]
  /** By fork: the keys of its branches in the order in which they ended. */
  arrivals: Record<string, string[]>
}

/** A run with the way it went. */
export interface RecordedRun {
  id: string
  version: number
  startTime: string
  /** Its first steps ran on another version. */
  continued?: boolean
  facts: Facts
  way: Way
}

/** Failures with a cause outside the step. */
const OUTSIDE = ['CANCELLED', 'TERMINATED', 'WORKER_LOST', 'ENGINE_GAVE_UP', 'RUN_TIMED_OUT']

/** A recorded failure, as far as it says something about its step. */
export function failedAs(failure: Failure): FactCame {
  if (failure.code === 'STOPPED') return 'stopped'
  return OUTSIDE.includes(failure.code) ? 'never' : { failed: failure }
}

/** How a run ended, as far as that says something about its steps. */
export function endOfRun(run: { result: JsonValue; error: RunError | null; ended: boolean }): Way['end'] {
  const { result, error, ended } = run
  const place = { branch: MAIN_BRANCH, stepId: error?.stepId ?? '', visit: 1 }
  if (error) return OUTSIDE.includes(error.code) ? { needs: { why: 'stopped', place } } : { failed: error }
  return ended ? { result: result ?? {} } : { needs: { why: 'open', place } }
}

/** Settings of a step that say nothing about what it asks of the outside. */
const OWN_SETTINGS = new Set(['$runId', 'name', 'saveAs', 'retry', 'timeoutMs', 'maxVisits'])

/** What a step with this configuration asks of the outside, or of people. */
export function askedWith(config: object): JsonObject {
  // As it is stored: without absent settings.
  const stored: JsonObject = JSON.parse(JSON.stringify(config))
  return Object.fromEntries(Object.entries(stored).filter(([name]) => !OWN_SETTINGS.has(name)))
}
