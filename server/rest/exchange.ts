import type { Identity } from '../auth/identity'
import type { CachedCaller } from '../context'
import { requestIdOf } from '../http/request-id'
import { respondBytes, respondEmpty, respondError, respondJson, respondStream } from '../http/respond'
import type { RouteAnswer } from '../openapi/endpoint'
import { requestAnswered } from '../outbox'
import { refusedHeaders } from './cors'
import { grantedStream } from './granted-stream'

/** A request, with the state of its response so far. */
export interface Exchange {
  readonly request: Request
  readonly requestId: string
  /** The headers of every response from now on, errors included. Empty until the caller is known. */
  readonly headers: Record<string, string>
  /** Set if the caller was identified without reading their key. */
  unverified?: UnverifiedCaller
}

export interface UnverifiedCaller {
  readonly cachedCaller: CachedCaller
  /** Reads the key, once. */
  verify(): Promise<Identity>
}

/** Answers a request, even after an error of any kind. */
export async function respond(request: Request, answer: (exchange: Exchange) => Promise<Response>): Promise<Response> {
  const exchange: Exchange = { request, requestId: requestIdOf(request), headers: {} }
  try {
    return await answer(exchange)
  } catch (err) {
    // A bad key always answers 401.
    const refusal = await exchange.unverified?.verify().then(
      () => null,
      (refusal: unknown) => refusal,
    )
    const { requestId, headers } = exchange
    const readable = Object.keys(headers).length > 0 ? headers : await refusedHeaders(request.headers)
    return respondError(refusal ?? err, requestId, readable)
  } finally {
    requestAnswered()
  }
}

/** The response to a caller. A stream ends when they lose access. */
export async function send(
  { request, requestId, headers }: Exchange,
  identity: Identity,
  answer: RouteAnswer,
): Promise<Response> {
  const { body } = answer
  const init = { ...answer, headers: { ...headers, ...answer.headers } }
  if (body instanceof Uint8Array) return respondBytes(body, requestId, init)
  if (body instanceof ReadableStream) {
    // Next sends no body to HEAD, and would not cancel this one either.
    if (request.method === 'HEAD') await body.cancel()
    const isSent = request.method !== 'HEAD'
    const stream = isSent ? grantedStream(body, identity, answer.headers?.['content-type'], request.signal) : null
    return respondStream(stream, requestId, init)
  }
  if (answer.status === 204) return respondEmpty(requestId, init.headers)
  return respondJson(body, requestId, init)
}
