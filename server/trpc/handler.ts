import 'server-only'
import { fetchRequestHandler } from '@trpc/server/adapters/fetch'
import { START_LINK_HEADER } from '@/lib/link-headers'
import { readSession } from '../auth/session'
import { isJsonObject, type JsonObject, jsonSize } from '../definition/json'
import { AppError } from '../errors'
import { LIMITS, MAX_JSON_BYTES, readJsonBody } from '../http/body'
import { MAX_FILE_BYTES } from '../http/multipart-input'
import { reachedAt } from '../http/origin'
import { parseJson } from '../http/parse-json'
import { requestIdOf } from '../http/request-id'
import { respondError } from '../http/respond'
import { admitForm } from '../links/start/admit'
import type { UnreadForm } from '../links/start/schema'
import { requestAnswered } from '../outbox'
import { appRouter } from './root'
import { visitorOf } from './visitor-of'

const MAX_BATCH = 10
const ENDPOINT = '/api/trpc'
const BY_LINK = 'auth.startByLink'
const WITH_FILE = ['runs.start', 'runs.rerun', 'tasks.addFile', 'reference.send', BY_LINK]

/**
 * The dashboard's own API. The session is a cookie, so only pages of this origin may call it: JSON that no HTML form
 * can send, or an event stream, from the same origin, and at most ten calls per request.
 */
export async function handleTrpc(request: Request): Promise<Response> {
  const requestId = requestIdOf(request)
  try {
    requireSameOrigin(request)
    const url = new URL(request.url)
    const calls = namesOf(url)
    requireSmallBatch(calls)
    const input = url.searchParams.get('input')
    // Parsed here only to apply the limits of a body to the query.
    if (input !== null) parseJson(input, 'The input')
    const body = request.method === 'POST' ? await readBody(request, url, calls, requestId) : null
    const response = await fetchRequestHandler({
      endpoint: ENDPOINT,
      req: body === null ? request : withBody(request, url, body),
      router: appRouter,
      allowMethodOverride: true,
      allowBatching: true,
      createContext: () => ({
        ...{ headers: request.headers, requestId, tenant: url.searchParams.get('tenant') },
        countedLink: body === null ? null : linkOfLarge(request, calls),
      }),
      responseMeta: () => ({
        headers: new Headers({
          'cache-control': 'no-store',
          'x-request-id': requestId,
          'x-content-type-options': 'nosniff',
        }),
      }),
    })
    return response
  } catch (err) {
    return respondError(err, requestId)
  } finally {
    requestAnswered()
  }
}

function withBody(request: Request, url: URL, body: JsonObject): Request {
  const { signal } = request
  return new Request(url, { method: 'POST', headers: jsonHeaders(request), body: JSON.stringify(body), signal })
}

/** The request's headers, adjusted to the re-encoded body. */
function jsonHeaders(request: Request): Headers {
  const headers = new Headers(request.headers)
  headers.delete('content-length')
  headers.set('content-type', 'application/json')
  return headers
}

/**
 * Browsers state a request's origin in headers that pages cannot forge. A request without them is rejected too: every
 * current browser sends them.
 * @throws AppError FORBIDDEN, METHOD_NOT_ALLOWED
 */
function requireSameOrigin(request: Request): void {
  const { headers, method } = request
  if (method !== 'GET' && method !== 'POST')
    throw new AppError('METHOD_NOT_ALLOWED', { headers: { allow: 'GET, POST' } })
  const site = headers.get('sec-fetch-site')
  const origin = headers.get('origin')
  const same = site === null ? origin !== null && hostOf(origin) === reachedAt(headers).host : site === 'same-origin'
  if (!same) throw new AppError('FORBIDDEN', { details: [{ message: 'Only pages of this origin may call this API.' }] })
  if (method === 'GET' && !(headers.get('accept') ?? '').includes('text/event-stream')) {
    throw new AppError('METHOD_NOT_ALLOWED', {
      headers: { allow: 'POST' },
      details: [{ message: 'Send calls as POST with JSON; only event streams use GET.' }],
    })
  }
}

function hostOf(origin: string): string | null {
  return URL.canParse(origin) ? new URL(origin).host : null
}

/**
 * A start, a rerun, an answer and a call of the reference may carry a file, if it is the only call and a person is
 * signed in, or has a start link that is open and may start another run.
 * @throws AppError UNSUPPORTED_MEDIA_TYPE, PAYLOAD_TOO_LARGE, INVALID_INPUT, RATE_LIMITED, UNAVAILABLE
 */
async function readBody(request: Request, url: URL, calls: string[], requestId: string): Promise<JsonObject> {
  if (!isLarge(request, calls)) return readJsonBody(request)
  const token = linkOfLarge(request, calls)
  if (token !== null) {
    // Without its form, the call only returns why the link does not work.
    if (!(await admitForm(visitorOf({ headers: request.headers, requestId }), token))) {
      return { token, unread: true } satisfies UnreadForm
    }
  }
  // Without a session, the call is rejected whatever its input.
  else if (!(await readSession(request.headers))) return {}
  const body = await readJsonBody(request, { ...LIMITS, bytes: MAX_JSON_BYTES + Math.ceil(MAX_FILE_BYTES / 3) * 4 })
  const input = url.searchParams.get('batch') === '1' ? body['0'] : body
  if (jsonSize(body) - fileBytes(input) > MAX_JSON_BYTES) {
    const message = `At most ${MAX_JSON_BYTES} bytes are accepted besides the file.`
    throw new AppError('PAYLOAD_TOO_LARGE', { details: [{ message }] })
  }
  return body
}

/** Whether a call may be as large as a file. */
function isLarge(request: Request, calls: string[]): boolean {
  const declared = Number(request.headers.get('content-length') ?? Number.POSITIVE_INFINITY)
  return calls.length === 1 && WITH_FILE.includes(calls[0] ?? '') && declared > MAX_JSON_BYTES
}

/** The token of the start link of a large form, which is counted before it is read; null for any other call. */
function linkOfLarge(request: Request, calls: string[]): string | null {
  return isLarge(request, calls) && calls[0] === BY_LINK ? (request.headers.get(START_LINK_HEADER) ?? '') : null
}

/** The size of a call's files, as they are sent. */
function fileBytes(input: unknown): number {
  const { file, files } = isJsonObject(input) ? input : {}
  const parts = Array.isArray(files) ? files.map((part) => (isJsonObject(part) ? part.file : null)) : [file]
  const texts = parts.map((one) => (isJsonObject(one) && typeof one.base64 === 'string' ? one.base64 : ''))
  return texts.reduce((sum, text) => sum + jsonSize(text), 0)
}

/** @throws AppError INVALID_INPUT */
function namesOf(url: URL): string[] {
  return decoded(url.pathname.slice(ENDPOINT.length + 1)).split(',')
}

/** @throws AppError INVALID_INPUT */
function requireSmallBatch(names: string[]): void {
  if (names.length <= MAX_BATCH) return
  throw new AppError('INVALID_INPUT', { details: [{ message: `At most ${MAX_BATCH} calls in one request.` }] })
}

/** @throws AppError INVALID_INPUT */
function decoded(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    throw new AppError('INVALID_INPUT', { details: [{ message: 'The path is not valid UTF-8.' }] })
  }
}
