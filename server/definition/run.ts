import type { JsonObject } from './json'
import type { Fields } from './schema'

/** What a run has gathered so far, by field: its input and what its steps added. */
export type RunData = JsonObject

/** Why a run ended badly; null on a run that did not. */
export type RunError = {
  code: string
  message: string
  stepId: string | null
}

/** Who asked a run to stop, and how that went. */
export type Cancellation = {
  kind: 'cancel' | 'terminate'
  reason: string | null
  requestedBy: string
  requestedAt: string
  /** How the `onCancel` path ended; absent while it runs and where there was none. */
  cleanup?: 'completed' | 'failed'
}

/** An attempt at a step that has ended. Moments are ISO texts. */
export type Attempt = {
  attempt: number
  startTime: string
  endTime: string
  /** Absent when the attempt went well. */
  error?: string
  /** Absent when no other attempt follows. */
  retryInMs?: number
}

/** What a step of the function returns to the walk. Small: user data stays in the database. */
export type Receipt =
  /** Visit this step next. */
  | { next: { stepId: string; visit: number } }
  /** Wait for an answer or a moment; `arm` counts how often the wait was set up. */
  | { wait: { pauseId: string; arm: number; dueAt: string | null } }
  /** Another engine run goes on from here, or the run ended. */
  | { stop: 'ended' | 'handed-over' | 'superseded' }

/** What a pause shows and asks; `pauseSignal` in the API. */
export type PauseSignal =
  | {
      type: 'collect_inputs'
      stepId: string
      fields: Fields
      title?: string
      message?: string
    }
  | {
      type: 'request_user_action'
      stepId: string
      actions: { id: string; label: string }[]
      title?: string
      message?: string
    }

export type PauseAnswer = { data: JsonObject } | { actionId: string; actionValue: string }
