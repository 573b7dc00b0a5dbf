import { encode } from 'next-auth/jwt'
import { members, users } from '@/db/schema/members'
import { slugOf } from '@/lib/slug'
import { sessionSecrets } from '@/server/auth/session-secret'
import { startSession } from '@/server/auth/sessions'
import type { ServiceContext } from '@/server/context'
import { newId } from '@/server/ids'
import type { Role } from '@/server/roles'
import { handleTrpc } from '@/server/trpc/handler'
import { KINDS } from './procedures'

export const ORIGIN = 'http://localhost:4321'

/** A signed-in person, and the workspace they look at. */
export interface Visitor {
  userId: string
  cookie: string
  tenant: string | null
}

export const NOBODY: Visitor = { userId: '', cookie: '', tenant: null }

/** A signed-in person with a role in the context's tenant. */
export async function newVisitor(ctx: ServiceContext, role: Role): Promise<Visitor> {
  const userId = newId('usr')
  const now = new Date()
  await ctx.db
    .insert(users)
    .values({ id: userId, email: `${userId}@example.com`.toLowerCase(), name: role, createdAt: now })
  await ctx.db.insert(members).values({ tenantId: ctx.tenantId, userId, role, createdAt: now })
  const sid = await startSession(ctx.db, userId, 'a test', now)
  const token = await encode({ token: { sub: userId, sid }, secret: sessionSecrets()[0] })
  return { userId, cookie: `next-auth.session-token=${token}`, tenant: slugOf(ctx.tenantId) }
}

export interface Answer {
  status: number
  headers: Headers
  text: string
}

export interface Sent {
  method?: string
  /** An empty text removes a header. */
  headers?: Record<string, string>
  body?: string
  path?: string
  query?: Record<string, string>
}

/** One request to the handler, by default as a page of the dashboard sends it. */
export async function send(visitor: Visitor, sent: Sent): Promise<Answer> {
  const { method = 'POST', body, path = '' } = sent
  const query = new URLSearchParams({ ...(visitor.tenant ? { tenant: visitor.tenant } : {}), ...sent.query })
  const headers = new Headers({
    host: new URL(ORIGIN).host,
    'sec-fetch-site': 'same-origin',
    ...(visitor.cookie ? { cookie: visitor.cookie } : {}),
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
  })
  for (const [name, value] of Object.entries(sent.headers ?? {})) {
    if (value === '') headers.delete(name)
    else headers.set(name, value)
  }
  const url = `${ORIGIN}/api/trpc/${path}?${query}`
  const leave = new AbortController()
  const response = await handleTrpc(
    new Request(url, { method, headers, signal: leave.signal, ...(body === undefined ? {} : { body }) }),
  )
  try {
    return { status: response.status, headers: response.headers, text: await readStart(response) }
  } finally {
    leave.abort()
  }
}

/** The whole body, or the first event of a stream. */
async function readStart(response: Response): Promise<string> {
  if (!(response.headers.get('content-type') ?? '').includes('event-stream')) return response.text()
  const reader = response.body?.getReader()
  const decoder = new TextDecoder()
  let text = ''
  while (reader && !/\n\n[\s\S]*\n\n/.test(text)) {
    const { done, value } = await reader.read()
    if (done) break
    text += decoder.decode(value, { stream: true })
  }
  await reader?.cancel().catch(() => {})
  return text
}

/**
 * Calls one procedure. An event stream is refused in its first event, whose status is returned like that of an answer.
 */
export async function callProcedure(visitor: Visitor, name: string, input: unknown, more: Sent = {}): Promise<Answer> {
  if (KINDS[name] !== 'subscription') {
    return send(visitor, { path: name, body: input === undefined ? '' : JSON.stringify(input), ...more })
  }
  const query = input === undefined ? {} : { input: JSON.stringify(input) }
  const headers = { accept: 'text/event-stream', ...more.headers }
  const answer = await send(visitor, {
    method: 'GET',
    path: name,
    ...more,
    headers,
    query: { ...query, ...more.query },
  })
  const failure = /event: serialized-error\ndata: (.*)/.exec(answer.text)?.[1]
  if (!failure) return answer
  const told = JSON.parse(failure) as { data: { httpStatus: number } }
  return { ...answer, status: told.data.httpStatus, text: JSON.stringify({ error: told }) }
}

/** Calls one procedure once per input, in one request. A batch takes ten; no event stream can be in one. */
export async function callBatch(visitor: Visitor, name: string, inputs: unknown[]) {
  const path = inputs.map(() => name).join(',')
  const { text } = await send(visitor, { path, query: { batch: '1' }, body: JSON.stringify({ ...inputs }) })
  const answers = JSON.parse(text) as { error?: { data: { httpStatus: number } } }[]
  if (answers.length !== inputs.length) throw new Error(`The batch was not answered one by one: ${text}`)
  return answers.map((one) => ({ status: one.error?.data.httpStatus ?? 200, text: JSON.stringify(one) }))
}

/** The error in an answer. */
export function errorIn(text: string): { code: string; message: string; details: unknown[]; requestId: string } {
  const body = JSON.parse(text)
  const told = Array.isArray(body) ? body[0] : body
  return told.error.data?.error ?? { ...told.error, requestId: told.requestId }
}
