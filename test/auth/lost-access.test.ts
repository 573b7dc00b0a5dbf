import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { apiKeys } from '@/db/schema/keys'
import { members } from '@/db/schema/members'
import { signingSecrets } from '@/db/schema/secrets'
import { sessions } from '@/db/schema/sessions'
import { CHECK_MS } from '@/server/auth/watch-access'
import type { ServiceContext } from '@/server/context'
import { createApiKey } from '@/server/credentials/api-keys/create'
import { createSigningSecret } from '@/server/credentials/signing-secrets/create'
import { startRun } from '@/server/runs/start'
import { handleTrpc } from '@/server/trpc/handler'
import { createWorkflow } from '@/server/workflows/lifecycle'
import { newAgent } from '../agents/support'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { type ModelServer, startModelServer } from '../support/model'
import { newTenant } from '../support/tenant'
import { newVisitor, ORIGIN } from '../trpc/support'
import { mint } from './support'

vi.hoisted(() => {
  Object.assign(process.env, { ENCRYPTION_KEY: 'ab'.repeat(32), LOG_LEVEL: 'silent', MILLRACE_EMBEDDED: '1' })
  Object.assign(process.env, { JWT_AUDIENCE: 'app.example.com', ALLOW_PRIVATE_HOSTS: '127.0.0.1' })
})

// Access is revoked by a direct write, as another process would do it, unknown to the process that has the stream.
let database: FreshDatabase
let ctx: ServiceContext
let runId: string
let model: ModelServer
beforeAll(async () => {
  database = await freshDatabase()
  process.env.DATABASE_URL = database.url
  model = await startModelServer()
  ctx = await newTenant(database)
  // No engine works here, so the run continues forever.
  const { id } = await createWorkflow(ctx, { name: 'Waits', steps: [{ id: 'end', type: 'end-flow' }] })
  runId = (await startRun(ctx, { workflowId: id, body: {} })).runId
})
afterAll(async () => {
  await model.close()
  await database.close()
})

/** Reads a stream up to a text, and then to its end. */
function reading(response: Response) {
  const reader = response.body?.getReader()
  const decoder = new TextDecoder()
  let text = ''
  const readTo = async (mark: string | null): Promise<string> => {
    while (mark === null || !text.includes(mark)) {
      const { done, value } = (await reader?.read()) ?? { done: true }
      if (done) break
      text += decoder.decode(value, { stream: true })
    }
    return text
  }
  return { readTo, toEnd: () => readTo(null), leave: () => reader?.cancel() }
}

async function follow(headers: Record<string, string>) {
  const { GET } = await import('@/app/api/workflow/events/[runId]/route')
  const request = new Request(`${ORIGIN}/api/workflow/events/${runId}`, { headers })
  const response = await GET(request, { params: Promise.resolve({ runId }) })
  expect(response.status).toBe(200)
  const stream = reading(response)
  expect(await stream.readTo('"status":"running"')).toContain('event: run')
  return stream
}

async function withKey() {
  const { id, key } = await createApiKey(ctx, { name: 'K', role: 'operator' })
  const row = eq(apiKeys.id, id)
  const change = (set: object) => database.db.update(apiKeys).set(set).where(row)
  return { headers: { 'x-api-key': key }, change, row }
}

async function withToken(expiresIn = 3600, limits: object = {}) {
  const { id, secret } = await createSigningSecret(ctx, { name: 'S', role: 'operator', ...limits })
  const now = Math.floor(Date.now() / 1000)
  const payload = { sub: 'ada', aud: 'app.example.com', iat: now - 60, exp: now + expiresIn }
  const headers = { authorization: `Bearer ${mint({ alg: 'HS256', kid: id }, payload, secret)}` }
  const change = (set: object) => database.db.update(signingSecrets).set(set).where(eq(signingSecrets.id, id))
  return { headers, change }
}

describe('an open stream of events ends once', () => {
  const past = new Date(Date.now() - 1)
  test.each<[string, () => Promise<{ headers: Record<string, string>; lose: () => PromiseLike<unknown> }>]>([
    [
      'its key is disabled',
      async () => {
        const { headers, change } = await withKey()
        return { headers, lose: () => change({ disabledAt: past }) }
      },
    ],
    [
      'its key is gone',
      async () => {
        const { headers, row } = await withKey()
        return { headers, lose: () => database.db.delete(apiKeys).where(row) }
      },
    ],
    [
      'its key has another role',
      async () => {
        const { headers, change } = await withKey()
        return { headers, lose: () => change({ role: 'viewer' }) }
      },
    ],
    [
      'the grace of its rotated key is over',
      async () => {
        const { headers, change } = await withKey()
        return { headers, lose: () => change({ graceUntil: past }) }
      },
    ],
    [
      'its signing secret is disabled',
      async () => {
        const { headers, change } = await withToken()
        return { headers, lose: () => change({ disabledAt: past }) }
      },
    ],
    [
      'its signing secret has narrower limits',
      async () => {
        const { headers, change } = await withToken()
        return { headers, lose: () => change({ ownRuns: true }) }
      },
    ],
    // Within the minute by which two clocks may differ.
    ['its token has expired', async () => ({ headers: (await withToken(-58)).headers, lose: async () => {} })],
  ])('%s', async (_, prepare) => {
    const { headers, lose } = await prepare()
    const stream = await follow(headers)
    await lose()
    expect(await stream.toEnd()).not.toContain('event: end')
  })
})

test('streams with unchanged access continue', async () => {
  const [key, token] = [await withKey(), await withToken(3600, { workflowIds: null, agentIds: [] })]
  const other = await withKey()
  const kept = await Promise.all([follow(key.headers), follow(token.headers)])
  const lost = await follow(other.headers)
  await key.change({ name: 'Another name', lastUsedAt: new Date() })
  await other.change({ disabledAt: new Date() })
  // By its end, all of them have been checked.
  await lost.toEnd()
  await database.sql`update runs set status = 'paused', change = nextval('changes') where id = ${runId}`
  for (const stream of kept) {
    expect(await stream.readTo('"status":"paused"')).toContain('"status":"paused"')
    await stream.leave()
  }
  await database.sql`update runs set status = 'running', change = nextval('changes') where id = ${runId}`
})

test('the stream of a chat ends, though its turn continues', async () => {
  const { id: agentId } = await newAgent(ctx, {}, model)
  model.script({ text: 'One two three', delayMs: 60_000 })
  const { headers, change } = await withKey()
  const { POST } = await import('@/app/api/chat/route')
  const body = JSON.stringify({ agentId, message: 'Hello' })
  const all = { ...headers, accept: 'text/event-stream', 'content-type': 'application/json' }
  const response = await POST(new Request(`${ORIGIN}/api/chat`, { method: 'POST', headers: all, body }), {
    params: Promise.resolve({}),
  })
  expect(response.status, await (response.ok ? '' : response.text())).toBe(200)
  const stream = reading(response)
  await vi.waitFor(() => expect(model.calls).toHaveLength(1), 20_000)
  await change({ disabledAt: new Date() })
  expect(await stream.toEnd()).not.toContain('event: message.done')
  expect(model.calls[0]?.aborted).toBe(false)
})

test.each([
  [
    'runs.changes',
    'their role changes',
    (userId: string) => database.db.update(members).set({ role: 'operator' }).where(eq(members.userId, userId)),
  ],
  [
    'live.changes',
    'they are no longer a member',
    (userId: string) => database.db.delete(members).where(eq(members.userId, userId)),
  ],
  [
    'live.changes',
    'their session has ended',
    (userId: string) => database.db.update(sessions).set({ revokedAt: new Date() }).where(eq(sessions.userId, userId)),
  ],
] as const)('%s of a page ends once %s, so that the page connects again', async (path, _, lose) => {
  const visitor = await newVisitor(ctx, 'viewer')
  const input = path === 'runs.changes' ? { runId } : { tab: 'tab_of_a_test' }
  const query = new URLSearchParams({ tenant: visitor.tenant ?? '', input: JSON.stringify(input) })
  const headers = { accept: 'text/event-stream', cookie: visitor.cookie, 'sec-fetch-site': 'same-origin' }
  const open = async () => reading(await handleTrpc(new Request(`${ORIGIN}/api/trpc/${path}?${query}`, { headers })))
  const stream = await open()
  await stream.readTo('data: {"')
  await lose(visitor.userId)
  expect(await stream.toEnd()).toContain('"code":"UNAVAILABLE"')
  if (path === 'live.changes') expect(await (await open()).toEnd()).toMatch(/UNAUTHORIZED|NOT_FOUND/)
})

test('periodic checks leave time to end within five seconds', () => {
  expect(CHECK_MS).toBeLessThanOrEqual(4_000)
})
