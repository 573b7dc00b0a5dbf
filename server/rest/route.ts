import 'server-only'
import type { IncomingHttpHeaders } from 'node:http'
import type { Identity } from '../auth/identity'
import type { CachedCaller, ServiceContext } from '../context'
import { database } from '../database'
import type { JsonObject } from '../definition/json'
import { AppError, CallerNotVerified } from '../errors'
import type { MultipartInput } from '../http/multipart-input'
import { requestIdOf } from '../http/request-id'
import { type PlainAnswer, respondBytes, respondEmpty, respondError, respondJson } from '../http/respond'
import type { Call, PublicCall, RouteAnswer, RouteCall } from '../openapi/endpoint'
import { requestAnswered } from '../outbox'
import { type CallOptions, type NextContext, paramsOf, readCall } from './call'
import { preflightHeaders, refusedHeaders } from './cors'
import { counted } from './count-requests'
import { respond, send, type UnverifiedCaller } from './exchange'
import { onceForKey } from './idempotency'
import { admit, type CallerOptions, contextOf, identify } from './identify'
import { queryOf } from './query'
import { refuseAgain } from './refused-starts'
import { type Unknowns, withWarnings } from './unknown-fields'

type Handler<P extends string, B = JsonObject> = (call: RouteCall<P, B>) => Promise<RouteAnswer>

interface RouteOptions extends CallerOptions, CallOptions {
  /** False for a POST that changes nothing and so needs no `Idempotency-Key`. */
  idempotent?: boolean | ((request: Request) => boolean)
  /** The warnings about a body. */
  unknowns?: Unknowns | undefined
  /** True if the handler only waits for work that continues without the caller. */
  onlyWaits?: boolean | undefined
}

export type RouteHandler = ((request: Request, context: NextContext) => Promise<Response>) & {
  /** Answers a request by its headers alone, if it is sure to be refused. */
  refuse?: (headers: IncomingHttpHeaders) => PlainAnswer | null
}
/** A handler that knows the folder of its route, such as `/api/agents/[agentId]`. */
export type CountedHandler = RouteHandler & { readonly route: string }

/** Authenticates, reads the body, calls the handler and writes the response or the error. Nothing else does this. */
export function route<P extends string = never>(
  handler: Handler<P, JsonObject | MultipartInput>,
  options: RouteOptions & { acceptsForm: boolean },
): RouteHandler
export function route<P extends string = never>(handler: Handler<P>, options?: RouteOptions): RouteHandler
export function route<P extends string = never>(handler: Handler<P, never>, options: RouteOptions = {}): RouteHandler {
  const answerTo: RouteHandler = (request, context) =>
    respond(request, async (exchange) => {
      const caller = await identify(exchange, options, context)
      await admit(exchange, caller, options)
      const call = await readCall<P>(request, context, options)
      const answerAs = (identity: Identity, cachedCaller?: CachedCaller) =>
        answerOnce(contextOf(exchange, identity, cachedCaller), call, handler, options)
      const { unverified } = exchange
      const answer = await (unverified ? answerCached(caller, unverified, answerAs) : answerAs(caller))
      return send(exchange, caller, withWarnings(answer, options.unknowns?.(call.body) ?? []))
    })
  return options.limit === 'starts' ? Object.assign(answerTo, { refuse: refuseAgain }) : answerTo
}

/**
 * Answers a caller whose key the verb's statement checks. After an error, or without such a statement, it answers again
 * with the key read.
 */
async function answerCached(
  caller: Identity,
  { cachedCaller, verify }: UnverifiedCaller,
  answerAs: (identity: Identity, cachedCaller?: CachedCaller) => Promise<RouteAnswer>,
): Promise<RouteAnswer> {
  const answer = await answerAs(caller, cachedCaller).catch((err: unknown) => {
    // If its response was lost, the run may have started: the caller has to know.
    if (cachedCaller.sent && !(err instanceof CallerNotVerified)) throw err
  })
  return answer && cachedCaller.verified ? answer : answerAs(await verify())
}

/** Calls the handler: for a POST, once per `Idempotency-Key`. */
function answerOnce<P extends string>(
  ctx: ServiceContext,
  call: Call<P, never>,
  handler: Handler<P, never>,
  { idempotent = true, onlyWaits: followsCaller }: RouteOptions,
): Promise<RouteAnswer> {
  const { request, body } = call
  const handle = (ctx: ServiceContext, signalOf: () => AbortSignal) =>
    handler({
      ...call,
      ctx,
      get signal() {
        return signalOf()
      },
    })
  const mayKeep = typeof idempotent === 'function' ? idempotent(request) : idempotent
  if (request.method !== 'POST' || !mayKeep) return handle(ctx, () => request.signal)
  return onceForKey(ctx, request, body, handle, { followsCaller })
}

/** For requests that need no credential, or carry one of their own that the verb checks. */
export function publicRoute<P extends string = never>(
  handler: (call: PublicCall<P>) => Promise<RouteAnswer>,
): RouteHandler {
  return async (request, context) => {
    const requestId = requestIdOf(request)
    try {
      const params = await paramsOf<P>(context)
      const answer = await handler({ request, requestId, params, query: () => queryOf(request) })
      if (answer.body instanceof Uint8Array) return respondBytes(answer.body, requestId, answer)
      return respondJson(answer.body, requestId, answer)
    } catch (err) {
      return respondError(err, requestId)
    } finally {
      requestAnswered()
    }
  }
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS'

/**
 * The handlers of one path. Other methods get 405 in the standard error shape, with `Allow`; Next's own 405 has no
 * body. OPTIONS lists the methods, also for pages on other origins.
 * @param folder of the route below `app`, under which its requests are counted
 */
export function methods(
  folder: string,
  handlers: Partial<Record<Method, RouteHandler>>,
): Record<Method, CountedHandler> {
  const allow = [...Object.keys(handlers), ...('GET' in handlers ? ['HEAD'] : []), 'OPTIONS'].join(', ')
  const refuse: RouteHandler = async (request) => {
    const error = new AppError('METHOD_NOT_ALLOWED', { headers: { allow } })
    return respondError(error, requestIdOf(request), await refusedHeaders(request.headers))
  }
  const options: RouteHandler = async (request) => {
    const requestId = requestIdOf(request)
    try {
      const cors = await preflightHeaders(request.headers, allow, () => database().db)
      return respondEmpty(requestId, { allow, ...cors })
    } catch (err) {
      return respondError(err, requestId)
    }
  }
  const of = (method: Method, fallback = refuse): CountedHandler => {
    const handler = handlers[method] ?? fallback
    return Object.assign(counted(folder, handler), { route: folder }, handler.refuse ? { refuse: handler.refuse } : {})
  }
  return {
    GET: of('GET'),
    POST: of('POST'),
    PUT: of('PUT'),
    PATCH: of('PATCH'),
    DELETE: of('DELETE'),
    OPTIONS: of('OPTIONS', options),
  }
}
