import type { StepUsage } from '../definition/agent'
import type { JsonObject } from '../definition/json'
import type { Attempt, PauseAnswer } from '../definition/run'
import type { Visit } from '../run-store/names'

/** What a plan follows: the claim of its walk, a step that was completed, or both. */
export interface Done {
  /** Where the walk was when it was read, if no record says so: the statement applies only if it is still there. */
  cursor?: Visit
  /**
   * What the walk was doing before this engine run claimed it: it was requested, or it waited at a pause, where a
   * segment ends.
   */
  claims: 'requested' | 'resting' | null
  step: DoneStep | null
}

export interface DoneStep {
  at: Visit
  endedAt: Date
  outputData: JsonObject
  outputBytes: number
  delta: JsonObject
  exit?: string | null
  /** Set if the step failed; `handled` if the walk continues at an exit for failures. */
  failure?: { code: string; message: string; handled: boolean }
  /** Only of a step that did work. */
  work?: { attempt: number; attempts: Attempt[]; usage: StepUsage | null }
  /** The pause whose answer was taken. */
  pauseId?: string
  /** Set if it was given just now. */
  given?: { answer: PauseAnswer; by: string }
}
