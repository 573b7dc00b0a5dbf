import type { StepUsage } from '../../definition/agent'
import type { JsonObject } from '../../definition/json'
import type { Arrival, Attempt, Failing, PauseAnswer, Receipt } from '../../definition/run'
import type { StepConfig } from '../../definition/step-config'
import type { Visit } from '../../run-store/names'
import type { Written } from '../../run-store/run-data'
import type { AnyStep, Asked, Recalled } from '../../steps/define-step'
import type { AttemptLog } from '../flow/attempt-log'
import type { EarlyWork, Ending, WalkState } from '../flow/types'
import type { Mark } from '../notice/heard'

/** The next moves of a walk, planned in memory. `commitPlan` writes them in one statement. */
export interface Plan {
  /** Records to insert, in the order of the history. */
  records: readonly NewRecord[]
  /** The run data after them; null leaves it as it is. For a branch: the fields it has written. */
  written: Written | null
  /** The run's new current step; null leaves it as it is. */
  stepId: string | null
  /** Set if the run ends here. */
  ending: Ending | null
  /** Set if the run is on its failure path. */
  failing: Failing | null
  /** Whether a step of another run waits for the end of this one. Only set if the plan ends the run. */
  isChild: boolean
  /** The pause to open, if the walk waits without an engine run. */
  pause: NewPause | null
  /** The receipt for the walk. */
  receipt: Receipt
  /** The next effect step of the walk, if it may start immediately. */
  begun: StartedAttempt | null
  /** Where the walk continues, if no record determines that: the plan reached its limits. */
  cursor: Visit | null
  /** Set if a branch ends here. */
  arrival: Arrival | null
}

export interface NewPause extends Visit, Asked {
  id: string
}

/** How a walk is driven. */
export interface Drive {
  /**
   * The number of the first attempt of a step: 1 when this process starts it immediately, 0 when another claim will.
   */
  attempt: 0 | 1
  /** Whether the walk waits at a pause without an engine run; the answer then requests a new one. */
  rests: boolean
}

/** A row of `step_records` to be inserted. */
export interface NewRecord extends Visit {
  stepType: string
  stepName: string
  status: 'running' | 'completed' | 'failed'
  attempt: number
  startTime: Date
  endTime: Date | null
  config: JsonObject
  inputData: JsonObject
  inputBytes: number
  outputData: JsonObject | null
  outputBytes: number | null
  delta: JsonObject | null
  error: string | null
  errorCode: string | null
  /** The run took the `error` exit. */
  handled: boolean | null
  /** The exit that a step with several took. */
  exit: string | null
  /** Of a step that ran inline, if its attempt has something to store. */
  attempts?: Attempt[]
}

export type AnyEffect = AnyStep & { mode: 'effect' }

/** An attempt of an effect step, with everything its work needs. */
export interface StartedAttempt {
  state: WalkState
  at: Visit
  type: AnyEffect
  config: StepConfig
  attempt: number
  attempts: Attempt[]
  log: AttemptLog
  startedAt: Date
  /** A time before its commit. Later notifications about the run may concern it. */
  since: Mark
  /** Its work, if that has started already. */
  early?: EarlyWork | undefined
  /** The value that its type remembers for it. */
  recalled?: Recalled | null | undefined
  /** That value, once the statement that records the step as begun confirms it. */
  known?: unknown
}

/** The cause of a plan: the claim of its walk, a completed step, or both. */
export interface Done {
  /**
   * Where the walk was when it was read, if no record determines that: the statement applies only if it is still there.
   */
  cursor?: Visit
  /**
   * The state of the walk before this engine run claimed it: requested, or waiting at a pause, where a segment ends.
   */
  claims: 'requested' | 'resting' | null
  step: DoneStep | null
}

export interface DoneStep {
  at: Visit
  endedAt: Date
  outputData: JsonObject
  /** Null, like `delta`, if there is no output. */
  outputBytes: number | null
  delta: JsonObject | null
  exit?: string | null
  /** Set if the step failed; `handled` if the walk continues at an exit for failures. */
  failure?: { code: string; message: string; handled: boolean }
  /** Only for a step that did work. */
  work?: { attempt: number; attempts: Attempt[]; usage: StepUsage | null }
  /** The pause whose answer was taken. */
  pauseId?: string
  /** Set if the pause was answered just now. */
  given?: { answer: PauseAnswer; by: string }
}
