import { AppError } from '../errors'
import { refusalOf } from './refused'
import { requestIdOf } from './request-id'
import { respondError } from './respond'

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/**
 * The 404 for an unknown path, with any method; or the error of a request that was refused before it arrived here.
 * @param headers more of them
 */
export async function answerNotFound(request: Request, headers: Record<string, string> = {}): Promise<Response> {
  const reason = refusalOf(request, METHODS) ?? new AppError('NOT_FOUND')
  return respondError(reason, requestIdOf(request), headers)
}
