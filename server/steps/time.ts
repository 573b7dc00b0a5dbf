import { z } from 'zod'
import { addDuration, parseDuration } from '../definition/duration'
import { StepFailure } from '../errors'

/** An ISO 8601 duration, or a template that resolves to one. */
export const DurationText = z
  .string()
  .max(200)
  .refine(
    (text) => text.includes('${') || parseDuration(text) !== null,
    'must be an ISO 8601 duration of at most ten years, such as PT30M, PT2H or P7D',
  )

/**
 * The time one duration after a step's start.
 * @throws StepFailure INVALID_CONFIG when a template resolved to something else
 */
export function after(start: Date, text: string): Date {
  const duration = parseDuration(text)
  if (duration) return addDuration(start, duration)
  throw new StepFailure('INVALID_CONFIG', `"${text}" is not a duration such as PT2H or P7D`)
}

/** How long people have; without it, the step waits indefinitely. */
export const ExpiresIn = DurationText.optional()

/** The due time of a step with `expiresIn`. */
export function expiry(start: Date, expiresIn: string | undefined): { dueAt?: Date } {
  return expiresIn === undefined ? {} : { dueAt: after(start, expiresIn) }
}
