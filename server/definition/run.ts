import type { StepUsage } from './agent'
import type { EventValue } from './event'
import type { JsonObject, JsonValue } from './json'
import type { Vote } from './people'
import type { Fields } from './schema'

/** All data of a run by field: its input and what its steps added. */
export type RunData = JsonObject

/** Where a large field of run data is stored: in what a visit wrote or, without one, in the run's input. */
export type DataRef = { bytes: number; branch?: string; stepId?: string; visit?: number }

/** The large fields of run data, by name. */
export type DataRefs = Record<string, DataRef>

/** Why a run failed; null for every other run. */
export type RunError = {
  code: string
  message: string
  stepId: string | null
}

/** Why a run that is on its failure path fails once that has ended. */
export type Failing = RunError & { outcome: 'failed' | 'timed_out' }

/** Who asked a run to stop, and the outcome. */
export type Cancellation = {
  kind: 'cancel' | 'terminate'
  reason: string | null
  requestedBy: string
  requestedAt: string
  /** How the `onCancel` path ended; absent while it runs, or when there is none. */
  cleanup?: 'completed' | 'failed'
}

/** A line that a script wrote to its console. */
export type LoggedLine = {
  level: 'debug' | 'log' | 'info' | 'warn' | 'error'
  text: string
  /** The tool, where an agent called it. */
  tool?: string
  /** Set on the last line if more was written than is kept. */
  truncated?: true
}

/** An attempt at a step that has ended. Times are ISO texts. */
export type Attempt = {
  attempt: number
  startTime: string
  endTime: string
  /** Absent when the attempt succeeded. */
  error?: string
  /** Absent when there is no further attempt. */
  retryInMs?: number
  /** What an agent used, if another attempt followed. */
  usage?: StepUsage
  /** What scripts wrote to their console; absent if that was nothing. */
  logs?: LoggedLine[]
}

/** What a recorded step returns to the walk. Small: user data stays in the database. */
export type Receipt =
  /** Visit this step next. */
  | { next: { stepId: string; visit: number } }
  /** Too much was computed at once: plan on from this step, whose visit has no record yet. */
  | { go: { stepId: string; visit: number } }
  /** Wait for an answer or until a time; `arm` counts how often the wait was set up. */
  | { wait: { pauseId: string; arm: number; dueAt: string | null } }
  /** Run the branches of this visit beside each other. */
  | { fork: { stepId: string; visit: number } }
  /** The branch has ended: count it at its fork. */
  | { arrive: true }
  /** Another engine run continues from here, now or once the open pause is answered, or the run has ended. */
  | { stop: 'ended' | 'handed-over' | 'superseded' | 'resting' | 'forked' | 'arrived' }

/** How a branch has ended. */
export type Arrival =
  /** Its path came to an end; with the value of the fork's `result`. */
  | { done: JsonValue }
  /** `final` if no `error` exit may catch it. */
  | { failed: RunError; outcome: 'failed' | 'timed_out'; final?: true }
  /** A step ends the whole run. */
  | { ends: { status: 'completed'; result: JsonValue; stepId: string } | { status: 'failed'; error: RunError } }

/** A value that the author of a step chose to show to whoever answers. */
export type ShownValue = {
  label: string
  value: JsonValue
  /** Its text is Markdown. */
  markdown?: true
}

/** What a pause shows and asks; `pauseSignal` in the API. */
export type PauseSignal = {
  stepId: string
  title?: string
  /** In Markdown. */
  message?: string
  /** What the task is about, in the author's order. */
  show?: ShownValue[]
  /** Who may answer; anybody if absent. */
  assignees?: string[]
  /** When it should be answered. Nothing happens then, unlike when the pause expires. */
  dueAt?: string
} & (
  | { type: 'collect_inputs'; fields: Fields }
  | {
      type: 'request_user_action'
      actions: { id: string; label: string }[]
      /** How many votes each action needs; without it, the first answer decides. */
      needs?: Record<string, number>
      /** Whoever started the run may not answer. */
      noSelfApproval?: true
    }
)

/** A person's answer, the event that came, how the child run ended, or that the time was up first. */
export type PauseAnswer =
  | { data: JsonObject }
  | { actionId: string; actionValue: string; votes?: Vote[] }
  | { event: EventValue }
  | { child: ChildEnd }
  | { due: true }

/** A person's answer as they gave it, for one pause. */
export type GivenAnswer = (
  | { type: 'collect_inputs'; pauseId: string; data: JsonObject }
  | { type: 'request_user_action'; pauseId: string; actionId: string; actionValue?: string | undefined }
) & {
  /** Why, in their words. */
  remark?: string
}

/** Why an answer was not taken. */
export type Refusal = { code: string; message: string }

/** How a run that a step started has ended, or why it could not start. */
export type ChildEnd = { result: JsonValue } | { failed: { code: string; message: string } }
