import { furthestAttempt } from '../../agents/journal/read'
import type { ServiceContext } from '../../context'
import { MAX_ATTEMPTS } from '../flow/failure'
import type { WalkState } from '../flow/types'
import type { StartedAttempt } from './types'

type Counted = Pick<StartedAttempt, 'at' | 'type' | 'config' | 'attempt' | 'attempts'> & {
  state: Pick<WalkState, 'ref'>
}

/** How many attempts a step may make. */
export function attemptLimit({ config }: Pick<Counted, 'config'>): number {
  return config.retry?.maxAttempts ?? MAX_ATTEMPTS
}

/**
 * How many attempts of a visit count against its limit, with the present one: not the parts of one, and not those that
 * recorded a call of a turn before their process died. So a turn outlives any number of deploys, and a call that kills
 * its process each time still ends. The database is read only if the limit would be exceeded otherwise.
 */
export async function triesOf(ctx: ServiceContext, begun: Counted): Promise<number> {
  const { state, at, type, attempt, attempts } = begun
  const ended = new Set(attempts.map((one) => one.attempt))
  const died = Array.from({ length: attempt - 1 }, (_, index) => index + 1).filter((one) => !ended.has(one))
  const failed = attempts.filter(({ part }) => !part).length
  if (!type.inParts || died.length === 0 || failed + died.length < attemptLimit(begun)) return failed + died.length + 1
  const furthest = await furthestAttempt(ctx, { ...state.ref, ...at })
  return failed + died.filter((one) => one > furthest).length + 1
}
