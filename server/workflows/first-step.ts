import type { Definition } from '../definition/schema'
import { AppError } from '../errors'

/** @throws AppError VALIDATION_FAILED */
export function firstStepOf({ initialStep }: Definition): string {
  if (initialStep !== null) return initialStep
  throw new AppError('VALIDATION_FAILED', {
    details: [{ path: 'initialStep', message: 'The workflow has no initial step.' }],
  })
}
