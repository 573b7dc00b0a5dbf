import { z } from 'zod'
import { authorize } from '../../auth/policy'
import type { ServiceContext } from '../../context'
import { AppError } from '../../errors'
import { originOf } from '../../http/origin'
import { parseInput } from '../../parse'
import { callAs } from '../callers'
import { matcher } from '../listener/match'
import { OPERATIONS } from '../openapi-document'
import { apiTable } from './api-table'
import { readAnswer } from './read-answer'

const METHODS = ['GET', 'POST', 'PUT', 'DELETE'] as const

/** A call as it was filled in on the reference page. */
export interface SendCall {
  method: string
  /** With the query. */
  path: string
  /** As it is sent. */
  body?: string | null
  headers?: Record<string, string>
}

const SendCall = z.object({
  method: z.enum(METHODS),
  path: z.string().max(8_000).startsWith('/api/', 'must begin with /api/'),
  body: z.string().nullish(),
  headers: z
    .object({ accept: z.string().max(200), 'idempotency-key': z.string().max(255), 'if-match': z.string().max(200) })
    .partial()
    .default({}),
})

/** What a route reads of where a request comes from, and what proxies write. */
const OF_THE_CALLER = ['host', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'user-agent']

/**
 * Makes a documented call of the API as the person who is signed in, in this process: with their role, their limits and
 * their name in the audit log. So the reference page needs no key, and a cookie alone opens nothing of REST.
 * @throws AppError NOT_FOUND for a path that no documented call has
 */
export async function sendCall(ctx: ServiceContext, input: unknown, from: Headers, signal: AbortSignal) {
  authorize(ctx, 'workflow:read')
  const { method, path, body, headers: given } = parseInput(SendCall, input)
  const url = new URL(path, originOf(from))
  const found = matcher(await apiTable())(url.pathname)
  const handler = found?.module[method]
  if (!found || !handler || !isDocumented(method, found.folder)) {
    throw new AppError('NOT_FOUND', { details: [{ path: 'path', message: `No call has ${method} ${url.pathname}.` }] })
  }
  const headers = new Headers(Object.entries(given).map(([name, value]) => [name, value ?? '']))
  for (const name of OF_THE_CALLER) {
    const value = from.get(name)
    if (value !== null) headers.set(name, value)
  }
  const sends = method !== 'GET' && typeof body === 'string' && body !== ''
  if (sends) headers.set('content-type', 'application/json')
  const request = new Request(url, { method, headers, signal, ...(sends ? { body } : {}) })
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

function isDocumented(method: string, folder: string): boolean {
  const path = folder.replace(/\[(\w+)\]/g, '{$1}')
  return OPERATIONS.some((operation) => operation.method === method && operation.path === path)
}
