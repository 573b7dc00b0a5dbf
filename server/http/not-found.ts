import { AppError } from '../errors'
import { requestIdOf } from './request-id'
import { respondError } from './respond'

/** The 404 for an unknown path, with any method. */
export async function answerNotFound(request: Request): Promise<Response> {
  return respondError(new AppError('NOT_FOUND'), requestIdOf(request))
}
