/** What a step of the function returns to the walk. Small: user data stays in the database. */
export type Receipt =
  /** Visit this step next. */
  | { next: { stepId: string; visit: number } }
  /** Wait for an answer or a moment; `arm` counts how often the wait was set up. */
  | { wait: { pauseId: string; arm: number; dueAt: string | null } }
  /** Another engine run goes on from here, or the run ended. */
  | { stop: 'ended' | 'handed-over' | 'superseded' }

export interface WalkRef {
  tenantId: string
  runId: string
  branch: string
  epoch: number
  segment: number
}

/** The walk of a run's `onCancel` path. Its records stand in the history like any others. */
export const CLEANUP_BRANCH = 'on-cancel'

export interface Visit {
  stepId: string
  visit: number
}

/** The pause of a visit; derived, so every process and attempt means the same one. */
export function pauseIdOf(branch: string, { stepId, visit }: Visit): string {
  return `${branch}:${stepId}#${visit}`
}

/** What an outside system may use to recognise a repeated call. */
export function idempotencyKeyOf(walk: WalkRef, { stepId, visit }: Visit): string {
  return `${walk.runId}:${walk.branch}:${stepId}:${visit}`
}
