import { z } from 'zod'
import { authorize } from '../../auth/policy'
import type { ServiceContext } from '../../context'
import { isJsonObject } from '../../definition/json'
import { AppError } from '../../errors'
import { FILE_PART } from '../../http/multipart-input'
import { originOf } from '../../http/origin'
import { parseJson } from '../../http/parse-json'
import { REQUEST_HEADERS } from '../../openapi/headers'
import { parseInput } from '../../parse'
import { EncodedFile, formTexts } from '../../runs/with-files'
import { callAs } from '../callers'
import { matcher } from '../listener/match'
import { OPERATIONS } from '../openapi-document'
import { ROUTES } from '../routes'
import { folderOf } from '../serve'
import { readAnswer } from './read-answer'

const match = matcher(ROUTES)

const METHODS = ['GET', 'POST', 'PUT', 'DELETE'] as const

/** A call as filled in on the reference page. */
export interface SendCall {
  method: string
  /** With the query. */
  path: string
  /** The body to send; with a file, an object whose fields accompany it. */
  body?: string | null
  headers?: Record<string, string>
  file?: EncodedFile | null
}

/** The headers that the document has a parameter for, and the one that chooses between its responses. */
const HEADERS = ['accept', ...Object.keys(REQUEST_HEADERS).map((name) => name.toLowerCase())]
const HeaderValue = z
  .string()
  .max(255)
  .regex(/^[ -~]*$/, 'must be printable ASCII')

const SendCall = z.object({
  method: z.enum(METHODS),
  path: z.string().max(8_000).startsWith('/api/', 'must begin with /api/'),
  body: z.string().nullish(),
  headers: z
    .object(Object.fromEntries(HEADERS.map((name) => [name, HeaderValue])))
    .partial()
    .default({}),
  file: EncodedFile.nullish(),
})

/** The headers by which a route identifies the origin of a request, and those that proxies write. */
const OF_THE_CALLER = ['host', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'user-agent']

/**
 * Makes a documented call of the API as the person who is signed in, in this process: with their role, their limits and
 * their name in the audit log. So the reference page needs no key, and a cookie alone gives no access to REST.
 * @throws AppError NOT_FOUND for a path that no documented call has
 */
export async function sendCall(ctx: ServiceContext, input: unknown, from: Headers, signal: AbortSignal) {
  authorize(ctx, 'workflow:read')
  const { method, path, body, headers: given, file } = parseInput(SendCall, input)
  const url = new URL(path, originOf(from))
  const found = match(url.pathname)
  const handler = found?.module[method]
  if (!found || !handler || !isDocumented(method, found.folder)) {
    throw new AppError('NOT_FOUND', { details: [{ path: 'path', message: `No call has ${method} ${url.pathname}.` }] })
  }
  const headers = new Headers(Object.entries(given).map(([name, value]) => [name, value ?? '']))
  for (const name of OF_THE_CALLER) {
    const value = from.get(name)
    if (value !== null) headers.set(name, value)
  }
  const text = method !== 'GET' && typeof body === 'string' && body !== '' ? body : null
  const form = file && method !== 'GET' ? formOf(file, text) : null
  if (text !== null && !form) headers.set('content-type', 'application/json')
  const sent = form ?? text
  const request = new Request(url, { method, headers, signal, ...(sent === null ? {} : { body: sent }) })
  const { tenantId, actor, trusted, reach } = ctx
  const began = performance.now()
  const response = await handler(callAs({ tenantId, actor, trusted, reach }, request), {
    params: Promise.resolve(found.params),
  })
  const answered = performance.now() - began
  return {
    status: response.status,
    headers: [...response.headers],
    /** Until the response began, in milliseconds. */
    ms: Math.round(answered),
    ...(await readAnswer(response)),
  }
}

/** The form that a program would send. @throws AppError INVALID_INPUT */
function formOf(file: EncodedFile, text: string | null): FormData {
  const form = new FormData()
  const fields = text === null ? {} : parseJson(text, 'The body')
  if (!isJsonObject(fields))
    throw new AppError('INVALID_INPUT', { details: [{ path: 'body', message: 'must be an object to go with a file' }] })
  for (const [name, value] of formTexts(fields)) form.append(name, value)
  form.append(FILE_PART, new File([Buffer.from(file.base64, 'base64')], file.name, { type: file.type }))
  return form
}

function isDocumented(method: string, folder: string): boolean {
  return OPERATIONS.some((operation) => operation.method === method && folderOf(operation) === folder)
}
