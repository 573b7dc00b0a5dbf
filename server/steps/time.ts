import { addDuration, parseDuration } from '../definition/duration'
import { StepFailure } from '../errors'

/**
 * The time one duration after a step's start.
 * @throws StepFailure INVALID_CONFIG when a template resolved to something else
 */
export function after(start: Date, text: string): Date {
  const duration = parseDuration(text)
  if (duration) return addDuration(start, duration)
  throw new StepFailure('INVALID_CONFIG', `"${text}" is not a duration such as PT2H or P7D`)
}

/** The due time of a step with `expiresIn`. */
export function expiry(start: Date, expiresIn: string | undefined): { dueAt?: Date } {
  return expiresIn === undefined ? {} : { dueAt: after(start, expiresIn) }
}
