import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ServiceContext, systemContext } from '@/server/context'
import { createSigningSecret } from '@/server/credentials/signing-secrets/create'
import { limitSigningSecret } from '@/server/credentials/signing-secrets/limit'
import { log } from '@/server/log'
import { claims, mint } from '../auth/support'
import { type Answer, type Api, call, startApi } from '../support/api'
import { attempt, type Route, swept, withoutRequestId } from '../support/api-routes'
import { fingerprint as fingerprintOf, unlike } from '../support/fingerprint'

/**
 * Objects outside a limited secret's reach do not exist for its tokens: every route, with every kind of id of the same
 * workspace, answers with the same bytes as for an unknown id, and changes nothing.
 */
const ENCRYPTION_KEY = 'cd'.repeat(32)
process.env.ENCRYPTION_KEY = ENCRYPTION_KEY
process.env.LOG_LEVEL = 'silent'

let api: Api
let ctx: ServiceContext
let secret: { id: string; secret: string }
let free: { id: string; secret: string }
/** The objects the token may use, and those it may not. */
const inside: Record<string, string> = {}
const outside: Record<string, string> = {}

const ASK = [{ id: 'order', type: 'collect-inputs', output: { item: { type: 'string' }, amount: { type: 'number' } } }]

beforeAll(async () => {
  api = await startApi({ ENCRYPTION_KEY, JWT_AUDIENCE: 'app.example.com' })
  ctx = systemContext({ tenantId: api.tenantId, db: api.database.db, log: log() })
  free = await createSigningSecret(ctx, { name: 'Free', role: 'operator' })
  for (const [place, name] of [
    [inside, 'Inside'],
    [outside, 'Outside'],
  ] as const) {
    place.workflow = (await api.call('POST', '/api/workflows', { name, steps: ASK })).body.id
    await api.call('POST', `/api/workflows/${place.workflow}/publish`, {})
    const model = { provider: 'scripted', modelId: 'scripted' }
    place.agent = (await api.call('POST', '/api/agents', { name, model })).body.id
    await api.call('POST', `/api/agents/${place.agent}/publish`, {})
  }
  const limits = { workflowIds: [inside.workflow], agentIds: [inside.agent], ownRuns: true }
  secret = await createSigningSecret(ctx, { name: 'Limited', role: 'operator', ...limits })

  inside.run = await start(inside.workflow, bearer(secret, 'ada'))
  outside['run of an API key'] = await start(inside.workflow)
  outside['run of another subject'] = await start(inside.workflow, bearer(secret, 'bob'))
  outside['run of another workflow'] = await start(outside.workflow, bearer(free, 'ada'))
  outside['run of a key with the name of the subject'] = await startAsKeyNamed('ada')
  outside.file = await upload()
  outside.tool = 'tool_add'
})
afterAll(() => api.stop())

function bearer({ id, secret }: { id: string; secret: string }, sub: string): Record<string, string> {
  const now = Math.floor(Date.now() / 1000)
  const token = mint({ alg: 'HS256', kid: id }, claims({ sub, iat: now, exp: now + 3600 }), secret)
  return { 'x-api-key': '', authorization: `Bearer ${token}` }
}

async function start(workflowId = '', headers: Record<string, string> = {}): Promise<string> {
  const answer = await api.call('POST', `/api/workflow/start/${workflowId}`, {}, { headers })
  expect(answer.status, JSON.stringify(answer.body)).toBe(202)
  return answer.body.runId
}

/** Ids of keys and subjects are distinguished by the kind of caller, not by their form. */
async function startAsKeyNamed(id: string): Promise<string> {
  const runId = await start(inside.workflow)
  await api.database.sql`update runs set started_by = ${id} where id = ${runId}`
  return runId
}

async function upload(): Promise<string> {
  const form = new FormData()
  form.append('attachment', new Blob(['of somebody else']), 'other.txt')
  const { body } = await api.call('POST', '/api/workflows', { name: 'E', steps: [{ id: 'end', type: 'end-flow' }] })
  const headers = { 'x-api-key': api.apiKey }
  const response = await fetch(`${api.url}/api/workflow/start/${body.id}`, { method: 'POST', headers, body: form })
  return ((await response.json()) as { data: { fileId: string } }).data.fileId
}

const ada = () => ({ headers: bearer(secret, 'ada') })
const asAda = (method: string, path: string, body?: unknown): Promise<Answer> => call(api, method, path, body, ada())
const fingerprint = () => fingerprintOf(api.database.sql, api.tenantId)

describe('outside of its reach', () => {
  test.each(swept.map((route) => [`${route.method} ${route.path}`, route] as const))(
    '%s',
    async (name, route: Route) => {
      const before = await fingerprint()
      for (const [kind, id] of Object.entries(outside)) {
        const theirs = await attempt(api, route, id, ada())
        const nobodys = await attempt(api, route, unlike(id), ada())
        expect([403, 404], `${name} with the ${kind}: ${JSON.stringify(theirs.body)}`).toContain(theirs.status)
        expect(withoutRequestId(theirs, id), `${name} tells a ${kind} apart`).toEqual(
          withoutRequestId(nobodys, unlike(id)),
        )
      }
      expect(await fingerprint(), `${name} changed something`).toBe(before)
    },
  )

  test('lists contain nothing of it, and filters find nothing', async () => {
    const paths = ['/api/workflows?includeArchived=true', '/api/workflow/runs?limit=200', '/api/agents']
    const texts = await Promise.all(
      [...paths, `/api/workflow/runs?workflowId=${outside.workflow}`].map(async (path) =>
        JSON.stringify((await asAda('GET', path)).body),
      ),
    )
    for (const text of texts) for (const id of Object.values(outside)) expect(text).not.toContain(id)
  })

  test('start links are, also of its workflow', async () => {
    const links = `/api/workflows/${inside.workflow}/start-links`
    const { id } = (await api.call('POST', links, {})).body
    for (const [method, path] of [
      ['GET', links],
      ['POST', links],
      ['DELETE', `${links}/${id}`],
    ] as const)
      expect((await asAda(method, path, method === 'POST' ? {} : undefined)).status).toBe(403)
    expect((await api.call('GET', links)).body).toMatchObject([{ id, revokedAt: null }])
  })

  test('tools are: one of them reads any file', async () => {
    for (const [method, path] of [
      ['GET', '/api/tools'],
      ['GET', '/api/tools/tool_read_file'],
    ] as const)
      expect((await asAda(method, path)).status).toBe(403)
    const read = await asAda('POST', '/api/tools/tool_read_file/invoke', { args: { fileId: outside.file } })
    expect(read.status).toBe(403)
  })
})

describe('within its reach', () => {
  test('lists contain its objects', async () => {
    expect((await asAda('GET', '/api/workflows')).body).toMatchObject([{ id: inside.workflow }])
    expect((await asAda('GET', '/api/agents')).body).toMatchObject([{ id: inside.agent }])
    expect((await asAda('GET', '/api/workflow/runs')).body.runs).toMatchObject([{ runId: inside.run }])
  })

  test('a run is started, followed, answered, read, retried and cancelled', async () => {
    const runId = await start(inside.workflow, bearer(secret, 'ada'))
    for (const path of ['status', 'history', 'events'])
      if (path !== 'events') expect((await asAda('GET', `/api/workflow/${path}/${runId}`)).status).toBe(200)
    expect((await asAda('GET', `/api/workflow/value/${runId}?field=data`)).status).toBe(200)
    const answer = { type: 'collect_inputs', data: { item: 'x', amount: 1 } }
    expect((await asAda('POST', `/api/workflow/resume/${runId}`, answer)).status).toBe(200)
    const again = (await asAda('POST', `/api/workflow/rerun/${runId}`, {})).body.runId
    expect((await asAda('POST', '/api/workflow/management/cancel', { runId: again, reason: 'x' })).status).toBe(200)
  })

  test('an agent answers, with a thread of the subject’s own', async () => {
    const json = { ...ada(), headers: { ...ada().headers, accept: 'application/json' } }
    const said = await call(api, 'POST', '/api/chat', { agentId: inside.agent, message: 'Hello' }, json)
    expect(said.status, JSON.stringify(said.body)).toBe(200)
    const { threadId } = said.body
    const bob = { headers: { ...bearer(secret, 'bob'), accept: 'application/json' } }
    const other = await call(api, 'POST', '/api/chat', { agentId: inside.agent, message: 'Hello', threadId }, bob)
    expect([other.status, other.body.error.code]).toEqual([404, 'THREAD_NOT_FOUND'])
    const threads = `/api/agents/${inside.agent}/threads`
    expect((await asAda('GET', threads)).body.threads).toMatchObject([{ id: threadId, subject: 'ada' }])
    expect((await asAda('GET', `${threads}/${threadId}`)).body.turns).toMatchObject([{ message: 'Hello' }])
    expect((await call(api, 'GET', threads, undefined, bob)).body.threads).toEqual([])
    expect((await call(api, 'GET', `${threads}/${threadId}`, undefined, bob)).body.error.code).toBe('THREAD_NOT_FOUND')
  })
})

test('new limits apply to tokens issued before, from the next request on', async () => {
  const { id, secret: value } = await createSigningSecret(ctx, { name: 'Later', role: 'viewer' })
  const headers = bearer({ id, secret: value }, 'ada')
  const find = async () => (await api.call('GET', `/api/workflows/${outside.workflow}`, undefined, { headers })).status
  expect(await find()).toBe(200)
  await limitSigningSecret(ctx, { id, limits: { workflowIds: [inside.workflow], agentIds: null, ownRuns: false } })
  expect(await find()).toBe(404)
  await limitSigningSecret(ctx, { id, limits: { workflowIds: null, agentIds: null, ownRuns: false } })
  expect(await find()).toBe(200)
})
