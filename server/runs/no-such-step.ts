import { AppError } from '../errors'

export function noSuchStep(): AppError {
  return new AppError('RUN_NOT_FOUND', { details: [{ path: 'seq', message: 'The run has no such step.' }] })
}
