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
