import 'server-only'
import type { IncomingHttpHeaders } from 'node:http'
import type { Identity } from '../auth/authenticate'
import { authenticateOrCount, countRequest } from '../auth/limits'
import { type Presumption, presumedCaller } from '../auth/presumed'
import { now } from '../clock'
import type { ServiceContext } from '../context'
import { database } from '../database'
import type { JsonObject } from '../definition/json'
import { AppError, CallerUnconfirmed } from '../errors'
import type { MultipartInput } from '../files/multipart-input'
import { fromAddress } from '../http/address'
import { LARGE_BODY, readJsonBody } from '../http/body'
import type { ByName } from '../http/by-name'
import { requestIdOf } from '../http/request-id'
import { type PlainAnswer, respondBytes, respondEmpty, respondError, respondJson, respondStream } from '../http/respond'
import { log } from '../log'
import { requestAnswered } from '../outbox'
import { knownCaller } from './callers'
import { corsHeaders, preflightHeaders, refusedHeaders } from './cors'
import { counted } from './count-requests'
import { grantedStream } from './granted-stream'
import { onceForKey } from './idempotency'
import { isMultipart, readMultipart } from './multipart'
import { queryOf, readQuery } from './query'
import { refuseAgain, requireRoomFor } from './refused-starts'

/** What a handler gets. The body is unknown here: the verb parses it, whichever transport it came by. */
interface RouteCall<P extends string, B = JsonObject> {
  ctx: ServiceContext
  params: Record<P, string>
  query: Record<string, string | undefined>
  body: B
  request: Request
  /**
   * Fires when the caller leaves. With an `Idempotency-Key` the work goes on, and its answer is kept. Made when it is asked
   * for, as that of a `SentRequest` is.
   */
  readonly signal: AbortSignal
}

/** A handler's answer: a body alone means 200. Bytes and streams are sent unchanged, anything else as JSON. */
export interface RouteAnswer {
  status?: number
  headers?: Record<string, string>
  body: unknown
}

interface RouteOptions {
  /** Which of two documented texts a 401 has, and the text of a 500. */
  surface?: 'workflow' | 'invoke'
  /** False if the body must not be read (GET). */
  readsBody?: boolean
  /** True if callers may send a form with a file instead of JSON. */
  acceptsForm?: boolean
  /** True if the body may be as large as `LARGE_BODY` says. */
  large?: boolean
  /** False for a POST that changes nothing and so needs no `Idempotency-Key`. */
  idempotent?: boolean | ((request: Request) => boolean)
  /** True if the handler only waits for work that goes on without the caller. */
  onlyWaits?: boolean
  /** True if the statement of its verb checks the key of a presumed caller, before anything else is done. */
  presumes?: boolean
  /** The limit it counts against besides the one for all requests. */
  limit?: 'starts' | 'invokes'
}

/** Next passes no parameters for a path that has none, although its types say it does. */
interface NextContext {
  params: Promise<Record<string, string | string[] | undefined> | undefined>
  /** Of the route, below `app`. `methods` adds it. */
  folder?: string
}
export type RouteHandler = ((request: Request, context: NextContext) => Promise<Response>) & {
  /** Answers a request by its headers alone, if it is sure to be refused. */
  refuse?: (headers: IncomingHttpHeaders) => PlainAnswer | null
}
/** A handler that knows the folder of its route, such as `/api/agents/[agentId]`. */
export type CountedHandler = RouteHandler & { readonly route: string }

const TEXTS = {
  workflow: { unauthorized: 'Unauthorized', internal: 'Internal server error' },
  invoke: { unauthorized: 'Invalid or disabled API key', internal: 'Internal server error' },
} as const

/** Authenticates, reads the body, calls the handler and writes the answer or the error. Nothing else does this. */
export function route<P extends string = never>(
  handler: (call: RouteCall<P, JsonObject | MultipartInput>) => Promise<RouteAnswer>,
  options: RouteOptions & { acceptsForm: true },
): RouteHandler
export function route<P extends string = never>(
  handler: (call: RouteCall<P>) => Promise<RouteAnswer>,
  options?: RouteOptions,
): RouteHandler
export function route<P extends string = never>(
  handler: (call: RouteCall<P, never>) => Promise<RouteAnswer>,
  options: RouteOptions = {},
): RouteHandler {
  const texts = TEXTS[options.surface ?? 'workflow']
  const answerTo: RouteHandler = async (request, context) => {
    const requestId = requestIdOf(request)
    // Known once the caller is; every answer from then on has them, errors included.
    const edge: Record<string, string> = {}
    let unconfirmed: (() => Promise<Identity>) | null = null
    try {
      const { db } = database()
      const authenticated = () => authenticateOrCount(request.headers, db, now(), texts.unauthorized, requestId)
      const guess = options.presumes && mayPresume(request) ? presumedCaller(request.headers, db) : null
      if (guess) unconfirmed = authenticated
      const identity = knownCaller(request) ?? guess?.identity ?? (await authenticated())
      Object.assign(edge, await corsHeaders(request.headers, identity, db))
      if (options.limit === 'starts') requireRoomFor(identity.tenantId, request.headers)
      Object.assign(edge, await countRequest(identity, options.limit, db, now()))
      const readsBody = options.readsBody ?? (request.method !== 'GET' && request.method !== 'HEAD')
      const readJson = (from: Request) => readJsonBody(from, options.large ? LARGE_BODY : undefined)
      const readBody = options.acceptsForm && isMultipart(request) ? readMultipart : readJson
      // The overloads decide which of the two a handler gets.
      const body = (readsBody ? await readBody(request) : {}) as never
      const contextOf = (identity: Identity): ServiceContext => ({
        ...identity,
        db,
        now,
        requestId,
        address: fromAddress(request.headers),
        log: log().child({ requestId, tenantId: identity.tenantId }),
      })
      const params = await paramsOf<P>(context)
      const query = await readQuery(request, context.folder)
      const handle = (ctx: ServiceContext, signalOf: () => AbortSignal) =>
        handler({
          ...{ ctx, params, query, body, request },
          get signal() {
            return signalOf()
          },
        })
      const { idempotent = true, onlyWaits: followsCaller } = options
      const mayKeep = typeof idempotent === 'function' ? idempotent(request) : idempotent
      const answerAs = (ctx: ServiceContext) =>
        request.method === 'POST' && mayKeep
          ? onceForKey(ctx, request, body, handle, { followsCaller })
          : handle(ctx, () => request.signal)
      const answerPresumed = async ({ identity, presumed }: Presumption) => {
        const answer = await answerAs({ ...contextOf(identity), presumed }).catch((err: unknown) => {
          // If its answer was lost, the run may have started: the caller has to know.
          if (presumed.sent && !(err instanceof CallerUnconfirmed)) throw err
        })
        unconfirmed = null
        return answer && presumed.confirmed ? answer : answerAs(contextOf(await authenticated()))
      }
      const answer = await (guess ? answerPresumed(guess) : answerAs(contextOf(identity)))
      const init = { ...answer, headers: { ...edge, ...answer.headers } }
      if (answer.body instanceof Uint8Array) return respondBytes(answer.body, requestId, init)
      // Next sends no body to HEAD, and would not cancel this one either.
      if (answer.body instanceof ReadableStream && request.method === 'HEAD') await answer.body.cancel()
      if (answer.body instanceof ReadableStream) {
        if (request.method === 'HEAD') return respondStream(null, requestId, init)
        return respondStream(
          grantedStream(answer.body, identity, answer.headers?.['content-type'], request.signal),
          requestId,
          init,
        )
      }
      if (answer.status === 204) return respondEmpty(requestId, init.headers)
      return respondJson(answer.body, requestId, init)
    } catch (err) {
      // Whatever else is wrong, a caller without a good key hears of that alone.
      const refusal = await unconfirmed?.().then(
        () => null,
        (err: unknown) => err,
      )
      const reason = refusal ?? err
      // Until the caller is known, `edge` is empty.
      const readable = Object.keys(edge).length > 0 ? edge : await refusedHeaders(request.headers)
      return respondError(reason, requestId, texts.internal, readable)
    } finally {
      requestAnswered()
    }
  }
  return options.limit === 'starts' ? Object.assign(answerTo, { refuse: refuseAgain }) : answerTo
}

/**
 * Browsers get headers by their key, a key of the request's own is written before anything else, and a file is stored
 * before the run is.
 */
function mayPresume(request: Request): boolean {
  const { headers } = request
  return !knownCaller(request) && !headers.has('origin') && !headers.has('idempotency-key') && !isMultipart(request)
}

interface PublicCall<P extends string> {
  request: Request
  requestId: string
  params: Record<P, string>
  /** @throws AppError INVALID_INPUT */
  query: () => ByName
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

/** The folder determines a path's parameters, which no type can see. */
async function paramsOf<P extends string>({ params }: NextContext): Promise<Record<P, string>> {
  const given = Object.entries((await params) ?? {})
  return Object.fromEntries(
    given.map(([name, value]) => [name, Array.isArray(value) ? value.join('/') : (value ?? '')]),
  ) as Record<P, string>
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS'

/**
 * The handlers of one path. Other methods get 405 in the standard error shape, with `Allow`; Next's own 405 has no
 * body. OPTIONS lists the methods, for pages on other origins too.
 * @param folder of the route below `app`: what its requests are counted by
 */
export function methods(
  folder: string,
  handlers: Partial<Record<Method, RouteHandler>>,
): Record<Method, CountedHandler> {
  const allow = [...Object.keys(handlers), ...('GET' in handlers ? ['HEAD'] : []), 'OPTIONS'].join(', ')
  const refuse: RouteHandler = async (request) => {
    const error = new AppError('METHOD_NOT_ALLOWED', { headers: { allow } })
    return respondError(error, requestIdOf(request), undefined, await refusedHeaders(request.headers))
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
    const placed: RouteHandler = (request, context) => handler(request, { ...context, folder })
    return Object.assign(counted(folder, placed), { route: folder }, handler.refuse ? { refuse: handler.refuse } : {})
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
