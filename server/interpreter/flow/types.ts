import type { runs } from '@/db/schema/runs'
import type { JsonObject, JsonValue } from '../../definition/json'
import type { Cancellation, LoggedLine, RunError } from '../../definition/run'
import type { Definition, Step } from '../../definition/schema'
import type { StepConfig } from '../../definition/step-config'
import type { Visit, WalkClaim, WalkRef } from '../../run-store/names'
import type { Written } from '../../run-store/run-data'
import type { RunRow, StepRecordRow, WalkData } from '../../run-store/walk-data'
import type { AnyStep, Asked, StepOutput } from '../../steps/define-step'
import type { AttemptLog } from './attempt-log'

/** The columns of an open record that continuing from it needs. */
export type OpenRecord = Pick<StepRecordRow, 'stepId' | 'visit' | 'stepType' | 'config'>

/** A run that waits at its only open pause without an engine run, as read or remembered. */
export interface Parked {
  run: RunRow
  written: Written
  walk: { branch: string; epoch: number; segment: number }
  record: OpenRecord
  pauseId: string
}

/** Everything that decides how a walk continues. */
export interface Position extends WalkData {
  run: Pick<RunRow, 'failing' | 'cancelRequestedAt'>
  ref: WalkRef
  definition: Definition
}

/** Where a walk is, with everything it can refer to. */
export interface WalkState extends Position {
  run: RunRow
  ref: WalkClaim
  /** Outputs that are not stored yet, by step: later steps may refer to them. */
  outputs: Record<string, JsonObject>
  /** How often the walk has visited each step of a loop. Null until it is needed; see `plan/outputs.ts`. */
  visits: Readonly<Record<string, number>> | null
}

/** A step that a walk comes to. */
export interface Entry<P extends Position = WalkState> {
  state: P
  step: Step
  type: AnyStep
  at: Visit
  now: Date
}

/**
 * Work of a step that started while the step was planned. It ends by itself, even if nobody asks for its output. Do not
 * stop it and start it again: with sixteen callers, scripts often wait for a worker for longer than steps may run
 * inline, and a stopped script takes its worker down with it. A run of five scripts then takes more than twice the
 * processor time.
 */
export interface EarlyWork {
  output: Promise<StepOutput>
  log: AttemptLog
  stop(): void
}

export type Entered =
  | { failure: { code: string; message: string } }
  /** The step ends the run as failed, regardless of its edges. */
  | { config: StepConfig; fails: { code: string; message: string } }
  /** The step needs work, or a person; this is its configuration and its question. */
  | { begins: StepConfig; asked: Asked | null; early?: EarlyWork }
  | {
      config: StepConfig
      outputData: JsonObject
      delta: JsonObject
      /** The data including the delta. */
      grown: WalkData
      exit: string
      /** The console output of a script that ran inline. */
      logs?: LoggedLine[]
      /** Set for a step that ends the run. */
      result?: JsonValue
    }

type Outcome = NonNullable<typeof runs.$inferSelect.outcome>

export type Ending =
  | { status: 'completed'; outcome: 'succeeded'; written: Written | null; result: JsonValue; stepId: string | null }
  | {
      status: 'failed'
      outcome: Exclude<Outcome, 'succeeded'>
      /** The run data; null leaves it as it is. */
      written: Written | null
      error: RunError
      /** Of a cancelled or terminated run. */
      cancellation?: Cancellation
      stepId: string | null
    }
