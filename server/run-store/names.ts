import { createHash } from 'node:crypto'
export interface WalkRef {
  tenantId: string
  runId: string
  branch: string
  epoch: number
  segment: number
}

/** A segment of a walk, and the engine run that claimed it: only that engine run may write. */
export interface WalkClaim extends WalkRef {
  engineRunId: string
}

/** The walk that begins at the workflow's first step. */
export const MAIN_BRANCH = 'main'

/** The walk of a run's `onCancel` path. History lists its records like any others. */
export const CLEANUP_BRANCH = 'on-cancel'

export interface Visit {
  stepId: string
  visit: number
}

/** The id of a visit's pause. Derived, so every process and every attempt gets the same one. */
export function pauseIdOf(branch: string, { stepId, visit }: Visit): string {
  return `${branch}:${stepId}#${visit}`
}

/** The id of a question that a visit asks while it is at work. */
export function questionIdOf(branch: string, at: Visit, id: string): string {
  return `${pauseIdOf(branch, at)}~${id}`
}

/** What receivers accept, including this service: the key is sent as a header. */
const SENDABLE = /^[\x21-\x7e]{1,255}$/

/** Lets an outside system recognise a repeated call. */
export function idempotencyKeyOf(walk: Pick<WalkRef, 'runId' | 'branch'>, { stepId, visit }: Visit): string {
  const place = `${walk.branch}:${stepId}:${visit}`
  const key = `${walk.runId}:${place}`
  return SENDABLE.test(key) ? key : `${walk.runId}:${createHash('sha256').update(place).digest('hex')}`
}
