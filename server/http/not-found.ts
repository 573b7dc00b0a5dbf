import { AppError } from '../errors'
import { requestIdOf } from './request-id'
import { respondError } from './respond'

/** The answer of every path that is not one, whatever the method. */
export async function nowhere(request: Request): Promise<Response> {
  return respondError(new AppError('NOT_FOUND'), requestIdOf(request))
}
