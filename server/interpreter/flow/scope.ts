import type { scopes } from '@/db/schema/runs'

/** A fork, with the counts of its branches. */
export type Scope = typeof scopes.$inferSelect

/** How a fork fails. */
export interface ForkFailure {
  code: string
  message: string
  stepId: string
  outcome: 'failed' | 'timed_out'
  final?: boolean | undefined
}

/** The state of a fork according to its counts. */
export function stateOf({
  total,
  succeeded,
  failed,
  need,
  stopOnError,
}: Pick<Scope, 'total' | 'succeeded' | 'failed' | 'need' | 'stopOnError'>): Scope['state'] {
  if (stopOnError && failed > 0) return 'failed'
  const open = total - succeeded - failed
  if (need === null) return open === 0 ? 'done' : 'open'
  if (succeeded >= need) return 'done'
  return succeeded + open < need ? 'impossible' : 'open'
}

/** Why a completed fork fails; null if it does not. */
export function failureOf(
  { state, cause, need, succeeded }: Pick<Scope, 'state' | 'cause' | 'need' | 'succeeded'>,
  stepId: string,
): ForkFailure | null {
  if (state === 'failed' && cause) {
    const { code, message, stepId: failed } = cause.failed
    return { code, message, stepId: failed ?? stepId, outcome: cause.outcome, final: cause.final }
  }
  if (state !== 'impossible') return null
  const message = `Only ${succeeded} of the ${need} branches needed have succeeded, and too few are left.`
  return { code: 'JOIN_IMPOSSIBLE', message, stepId, outcome: 'failed' }
}
