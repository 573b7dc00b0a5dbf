import type { ReachedLimit, StepUsage } from './agent'
import type { EventRules, EventValue } from './event'
import type { JsonObject, JsonValue } from './json'
import type { Vote } from './people'
import type { ReminderPlan } from './reminder'
import type { Fields } from './schema'
import type { ShownValue } from './shown'

/** All data of a run by field: its input and what its steps added. */
export type RunData = JsonObject

/** Where a large field of run data is stored: in a visit's output or, without one, in the run's input. */
export type DataRef = { bytes: number; branch?: string; stepId?: string; visit?: number }

/** The large fields of run data, by name. */
export type DataRefs = Record<string, DataRef>

/** Why a run failed; null for every other run. */
export type RunError = {
  code: string
  message: string
  stepId: string | null
}

/** The failure with which a run on its failure path ends. */
export type Failing = RunError & { outcome: 'failed' | 'timed_out' }

/** The request to stop a run, and its outcome. */
export type Cancellation = {
  kind: 'cancel' | 'terminate'
  reason: string | null
  requestedBy: string
  requestedAt: string
  /** How the `onCancel` path ended; absent while it runs, or without such a path. */
  cleanup?: 'completed' | 'failed'
}

/** A line that a script wrote to its console. */
export type LoggedLine = {
  level: 'debug' | 'log' | 'info' | 'warn' | 'error'
  text: string
  /** The tool, if an agent called it. */
  tool?: string
  /** Set on the last line if later output was dropped. */
  truncated?: true
}

/** An ended attempt of a step. Times are ISO texts. */
export type Attempt = {
  attempt: number
  startTime: string
  endTime: string
  /** Absent when the attempt succeeded. */
  error?: string
  /** Absent if no further attempt follows. */
  retryInMs?: number
  /** It is a part of an attempt: the work continued later, after a stop or an answer. */
  part?: 'time' | 'asks'
  /** An agent's usage, if another attempt followed. */
  usage?: StepUsage
  /** The console output of scripts; absent without any. */
  logs?: LoggedLine[]
}

/** The instruction that a recorded step returns to the walk. Small: user data stays in the database. */
export type Receipt =
  /** Visit this step next; `part` counts the parts of its visit that have ended. */
  | { next: { stepId: string; visit: number }; part?: number }
  /** The plan reached its limits: continue planning from this step, whose visit has no record yet. */
  | { go: { stepId: string; visit: number } }
  /** Wait for an answer or until a time; `arm` counts how often the wait was set up. */
  | { wait: { pauseId: string; arm: number; dueAt: string | null } }
  /** Run the branches of this visit in parallel. */
  | { fork: { stepId: string; visit: number } }
  /** The branch has ended: count it at its fork. */
  | { arrive: true }
  /** Another engine run continues from here, now or once the open pause is answered, or the run has ended. */
  | { stop: 'ended' | 'handed-over' | 'superseded' | 'resting' | 'forked' | 'arrived' }

/** How a branch has ended. */
export type Arrival =
  /** Its path ended; with the value of the fork's `result`. */
  | { done: JsonValue }
  /** `final` if no `error` exit may catch it. */
  | { failed: RunError; outcome: 'failed' | 'timed_out'; final?: true }
  /** A step ends the whole run. */
  | { ends: { status: 'completed'; result: JsonValue; stepId: string } | { status: 'failed'; error: RunError } }

/** An action that people may choose, with the fields that they fill in to choose it. */
export type AskedAction = { id: string; label: string; fields?: Fields }

/** A call of an agent that waits for a decision. */
export type AskedCall = {
  /** The tool; `handoff_` and the agent's id for a hand-over. */
  toolId: string
  /** The version that is called; absent for a hand-over. */
  version?: string | number
  args: JsonObject
  /** Why the model makes it, in its own words. */
  why: string
}

/** Whether a decision asks for a remark, which then is in run data. */
export type AsksRemark = 'required' | 'optional'

/** The question of a pause, with the values it shows; `pauseSignal` in the API. */
export type PauseSignal = {
  stepId: string
  title?: string
  /** In Markdown. */
  message?: string
  /** The values that describe the task, in the author's order. */
  show?: ShownValue[]
  /** Who may answer: people, groups and roles; anyone if absent. */
  assignees?: string[]
  /** When it should be answered. Nothing happens then, unlike when the pause expires. */
  dueAt?: string
  /** Absent if nobody is reminded. */
  reminders?: ReminderPlan
} & (
  | { type: 'collect_inputs'; fields: Fields }
  | {
      type: 'request_user_action'
      actions: AskedAction[]
      /** Set if the remark is part of the decision, rather than only a comment. */
      remark?: AsksRemark
      /** How many votes each action needs; without it, the first answer decides. */
      needs?: Record<string, number>
      /** The person who started the run may not answer. */
      noSelfApproval?: true
      /** The call that the decision is about. */
      call?: AskedCall
      /** The limit of an agent at which it asks whether it continues. */
      limit?: ReachedLimit
    }
)

/** What a person gives with the action they choose. Absent where the step does not ask for it. */
export type DecisionParts = {
  /** The values of the action's fields. */
  data?: JsonObject
  remark?: string
}

/** A person's answer, the event that arrived, the end of the child run, or the fact that the pause expired first. */
export type PauseAnswer =
  | { data: JsonObject }
  | (DecisionParts & { actionId: string; actionValue: string; votes?: Vote[] })
  | { event: EventValue }
  | { child: ChildEnd }
  | { due: true }

/** A person's answer as they gave it, for one pause. */
export type GivenAnswer =
  | { type: 'collect_inputs'; pauseId: string; data: JsonObject }
  | {
      type: 'request_user_action'
      pauseId: string
      actionId: string
      actionValue?: string | undefined
      /** Absent in answers that an earlier release held. */
      data?: JsonObject
      /** The reason, in their words. */
      remark?: string | undefined
    }

/** Why an answer was refused. */
export type Refusal = { code: string; message: string }

/** How a run that a step started ended, or why it could not start. */
export type ChildEnd = { result: JsonValue } | { failed: { code: string; message: string } }

/** What a task asked before the run was moved and it was asked again. Times are ISO texts. */
export type AskedBefore = {
  pauseId: string
  signal: PauseSignal | null
  dueAt: string | null
  /** The event that it waited for. */
  event?: { name: string; key: string | null; rules: EventRules }
  /** The votes that were dropped. */
  votes: Vote[]
}
