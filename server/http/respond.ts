import { isUnavailable } from '@/db/deadline'
import { AppError, ERRORS, type ErrorCode, type ErrorDetail } from '../errors'
import { log } from '../log'
import { JsonResponse, type PlainAnswer } from './json-response'

export const API_VERSION = '2026-11-01'

const HEADERS = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'x-api-version': API_VERSION,
}

/** A body that already is JSON text. */
export class JsonText {
  constructor(readonly text: string) {}
}

export type { PlainAnswer }

function plainJson(text: string, requestId: string, status: number, headers: Record<string, string>): PlainAnswer {
  return {
    status,
    headers: {
      ...HEADERS,
      'content-type': 'application/json; charset=utf-8',
      'content-length': String(Buffer.byteLength(text)),
      'x-request-id': requestId,
      ...headers,
    },
    text,
  }
}

/** The response to an error that need not be logged. */
export function errorResponse(err: AppError, requestId: string): PlainAnswer {
  const text = JSON.stringify(errorBody(err.code, err.message, err.details, requestId))
  return plainJson(text, requestId, err.status, { link: helpOf(err.code), ...err.headers })
}

export function respondJson(
  body: unknown,
  requestId: string,
  init: { status?: number; headers?: Record<string, string> } = {},
): Response {
  const text = body instanceof JsonText ? body.text : JSON.stringify(body)
  return new JsonResponse(plainJson(text, requestId, init.status ?? 200, init.headers ?? {}))
}

/** The text of a JSON response, for a reader that need not stream it. */
export function bodyText(response: Response): string | undefined {
  return response instanceof JsonResponse ? response.plain.text : undefined
}

/** Sends bytes unchanged, with the standard headers unless `init` overrides them. */
export function respondBytes(
  bytes: Uint8Array,
  requestId: string,
  init: { status?: number; headers?: Record<string, string> } = {},
): Response {
  const headers = { ...HEADERS, 'content-length': String(bytes.byteLength), 'x-request-id': requestId, ...init.headers }
  return new Response(bytes as Uint8Array<ArrayBuffer>, { status: init.status ?? 200, headers })
}

/** Sends a body while it is being produced, such as a stream of events; `init` sets its type. */
export function respondStream(
  stream: ReadableStream<Uint8Array> | null,
  requestId: string,
  init: { status?: number; headers?: Record<string, string> } = {},
): Response {
  const headers = { ...HEADERS, 'x-request-id': requestId, ...init.headers }
  return new Response(stream, { status: init.status ?? 200, headers })
}

export function respondEmpty(requestId: string, headers: Record<string, string>): Response {
  return new Response(null, { status: 204, headers: { ...HEADERS, 'x-request-id': requestId, ...headers } })
}

/** Links to the page that explains the code. A header, because users know the bodies as they are. */
function helpOf(code: ErrorCode): string {
  return `</errors/${code}>; rel="help"`
}

/** The error body of every endpoint. */
export function errorBody(code: string, message: string, details: ErrorDetail[], requestId: string) {
  return { success: false, error: { message, code, details }, requestId }
}

/** Turns any thrown value into a response. Only an AppError's own message reaches the caller. */
export function respondError(err: unknown, requestId: string, headers: Record<string, string> = {}): Response {
  if (err instanceof AppError) {
    // Asking the caller to come back later is not a failure of ours.
    if (err.status >= 500)
      log()[err.headers['retry-after'] === undefined ? 'error' : 'warn']({ err, requestId }, 'request failed')
    return respondJson(errorBody(err.code, err.message, err.details, requestId), requestId, {
      status: err.status,
      headers: { link: helpOf(err.code), ...headers, ...err.headers },
    })
  }
  if (isUnavailable(err)) {
    log().warn({ err, requestId }, 'database unavailable')
    const { status, message } = ERRORS.UNAVAILABLE
    return respondJson(errorBody('UNAVAILABLE', message, [], requestId), requestId, {
      status,
      headers: { link: helpOf('UNAVAILABLE'), ...headers, 'retry-after': '2' },
    })
  }
  log().error({ err, requestId }, 'request failed')
  return respondJson(errorBody('INTERNAL', ERRORS.INTERNAL.message, [], requestId), requestId, {
    status: 500,
    headers: { link: helpOf('INTERNAL'), ...headers },
  })
}
