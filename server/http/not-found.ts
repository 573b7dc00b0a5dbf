import { AppError } from '../errors'
import { refusalOf } from './refused'
import { requestIdOf } from './request-id'
import { respondError } from './respond'

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/** The 404 for an unknown path, with any method; or the error of a request that was refused before it came here. */
export async function answerNotFound(request: Request): Promise<Response> {
  return respondError(refusalOf(request, METHODS) ?? new AppError('NOT_FOUND'), requestIdOf(request))
}
