/** Why a run ended badly; null on a run that did not. */
export interface RunError {
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
