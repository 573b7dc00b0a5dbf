import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createApiKey } from '@/server/credentials/api-keys/create'
import { ENDPOINTS } from '@/server/rest/endpoints'
import { recordAgain } from '../openapi/again'
import { recordDefinitions } from '../openapi/as-code'
import { eventProblems, recordCalls, recordChat } from '../openapi/chat'
import { recordMoves } from '../openapi/moves'
import { type Recorder, recordOpenApi, startRecorder } from '../openapi/recorder'
import type { Documented } from '../openapi/validate'
import * as waysOut from '../openapi/ways-out'
import { recordWhatIfs } from '../openapi/what-if'
import { type Answer, type Api, call, startApi, TEST_ENV } from '../support/api'
import { attempt, naming, pathTo, swept } from '../support/api-routes'
import { startWeb } from '../support/service'
import { newTenant, withRole } from '../support/tenant'

let api: Api
let recorder: Recorder
let operations: Documented[]
let viewer: string

beforeAll(async () => {
  api = await startApi()
  recorder = await startRecorder(api)
  operations = recorder.operations
  const owner = { ...withRole(await newTenant(api.database), 'owner'), tenantId: api.tenantId }
  viewer = (await createApiKey(owner, { name: 'viewer', role: 'viewer' })).key
})
afterAll(() => api?.stop())

const recorded: Recorder['call'] = (...call) => recorder.call(...call)
const post: Recorder['post'] = (...call) => recorder.post(...call)
const get: Recorder['get'] = (...call) => recorder.get(...call)
const form: Recorder['form'] = (...call) => recorder.form(...call)
const FAILS = { id: 'fail', type: 'call-tool', toolId: 'tool_throws' }
const newKey = () => ({ headers: { 'idempotency-key': crypto.randomUUID() } })

/** Whether an operation documents `Idempotency-Key`. */
function takesKey({ operation }: Documented): boolean {
  return operation.parameters.some((it) => '$ref' in it && it.$ref.endsWith('/Idempotency-Key'))
}

/** The first example of a body. */
const example = (operationId: string) => Object.values(ENDPOINTS[operationId]?.body?.examples ?? {})[0]?.value

function isLarge(operationId: string): boolean {
  const endpoint = ENDPOINTS[operationId]
  return endpoint !== undefined && 'large' in endpoint
}

async function newWorkflow(definition: object = {}): Promise<string> {
  const steps = [{ id: 'end', type: 'end-flow' }]
  return (await post('/api/workflows', { name: 'Recorded', steps, ...definition })).body.id
}

async function pausedRun(): Promise<string> {
  const { runId } = (await post('/api/workflow/start-async/wf_order_approval')).body
  await expect.poll(async () => (await get(`/api/workflow/status/${runId}`)).body.status).toBe('paused')
  return runId
}

describe('every answer matches the document', () => {
  test('runs: start, status, resume, stop, retry and rerun', async () => {
    const hello = (await post('/api/workflow/start/wf_hello', { name: 'Ada' })).body
    await post('/api/workflow/start/wf_hello', { data: { name: 'Ada' } }, { headers: { prefer: 'wait=30' } })
    await post('/api/workflow/start/wf_order_approval')
    await post('/api/workflow/start-async/wf_hello', { name: 'Ada' }, newKey())
    const answered = await pausedRun()
    const resume = `/api/workflow/resume/${answered}`
    const inputs = { type: 'collect_inputs', data: { item: 'Chair', amount: 1 } }
    await post(resume, inputs)
    await expect.poll(async () => (await get(`/api/workflow/status/${answered}`)).body.currentStepId).toBe('decision')
    await expect.poll(async () => (await get(`/api/workflow/status/${answered}`)).body.status).toBe('paused')
    await post(resume, { type: 'request_user_action', actionId: 'approve' })
    expect((await post(`/api/workflow/resume/${hello.runId}`, inputs)).status).toBe(409)

    const ask = { id: 'ask', type: 'request-user-action', actions: [{ id: 'ok', label: 'OK' }], needs: { ok: 2 } }
    const steps = [
      {
        ...ask,
        assignees: ['user:ada', 'role:operator'],
        noSelfApproval: true,
        dueIn: 'P1D',
        reminders: { after: 'P1D' },
      },
    ]
    const { runId } = (await post(`/api/workflow/start/${await newWorkflow({ steps, edges: [] })}`)).body
    const vote = (answeredBy: string | undefined, options = {}) =>
      post(`/api/workflow/resume/${runId}`, { type: 'request_user_action', actionId: 'ok', answeredBy }, options)
    const key = newKey()
    for (let times = 0; times < 2; times++) expect((await vote('ada', key)).body.status).toBe('paused')
    for (const name of ['ada', 'eve', undefined]) expect((await vote(name)).status).toBe(name === 'ada' ? 409 : 403)
    await get(`/api/workflow/status/${runId}`)

    await get(`/api/workflow/history/${hello.runId}?limit=1`)
    await get(`/api/workflow/value/${hello.runId}?field=data`)
    await recordCalls(recorder)

    const cancelled = await pausedRun()
    await post('/api/workflow/management/cancel', { runId: cancelled, reason: 'Enough' })
    await get(`/api/workflow/status/${cancelled}`)
    await post('/api/workflow/management/terminate', { runId: await pausedRun() })
    for (const how of ['cancel', 'terminate']) {
      expect((await post(`/api/workflow/management/${how}`, { runId: hello.runId })).status).toBe(409)
    }
    const failing = await newWorkflow({
      steps: [FAILS, { id: 'end', type: 'end-flow' }],
      edges: [{ from: 'fail', to: 'end' }],
    })
    const failed = (await post(`/api/workflow/start/${failing}`)).body
    expect(failed.status).toBe('failed')
    await post(`/api/workflow/retry/${failed.runId}`)
    await post(`/api/workflow/rerun/${failed.runId}`)
    await post(`/api/workflow/rerun/${hello.runId}`, { data: { name: 'Grace' } })
    expect((await post(`/api/workflow/retry/${hello.runId}`)).status).toBe(409)
    await get('/api/workflow/runs?limit=2')
    await get('/api/workflow/runs?status=failed&outcome=failed')
    const events = await get(`/api/workflow/events/${hello.runId}`)
    expect(eventProblems(recorder, 'RunEvent', events.body)).toEqual([])
    const end = /id: (\d+-end)/.exec(events.body)?.[1] ?? ''
    expect((await get(`/api/workflow/events/${hello.runId}`, { headers: { 'last-event-id': end } })).status).toBe(204)

    await recordMoves(recorder)
    await recordWhatIfs(recorder)
    await recordAgain(recorder, failing, failed.runId)
  })

  test('workflows: create, change, publish, versions, archive, delete', async () => {
    const id = await newWorkflow({ payload: { n: { type: 'integer', default: 1 } }, onCancel: null })
    const path = `/api/workflows/${id}`
    await get('/api/workflows?limit=1&includeArchived=true&search=e')
    await get(path)
    await get(`/api/workflow/metadata/input/${id}`)
    await recorded('PUT', path, { name: 'Changed' }, { headers: { 'if-match': '"1"' } })
    expect((await recorded('PUT', path, { name: 'Late', version: 1 })).body.error.code).toBe('VERSION_CONFLICT')
    await get(`${path}/versions?limit=1`)
    for (const version of ['1', 'latest']) await get(`${path}/versions/${version}`)
    const stale = { headers: { 'if-match': '"1"' } }
    expect((await post(`${path}/publish`, {}, stale)).status).toBe(409)
    await post(`${path}/publish`)
    await post(`${path}/versions/1/restore`)
    expect((await post(`${path}/versions/1/restore`, {}, stale)).status).toBe(409)
    await post(`${path}/clone`)
    await post(`${path}/simulate`, { data: { n: 2 } })
    await post(`${path}/backtest`, { runs: 5, each: true })
    expect((await recorded('DELETE', `${path}/permanent`)).body.error.code).toBe('WORKFLOW_NOT_ARCHIVED')
    await recorded('DELETE', path)
    for (const refused of [
      await recorded('PUT', path, { name: 'x' }),
      await post(`${path}/publish`),
      await post(`${path}/versions/1/restore`),
      await post(`/api/workflow/start/${id}`),
      await post(`/api/workflow/start-async/${id}`),
    ]) {
      expect(refused.body.error.code).toBe('WORKFLOW_ARCHIVED')
    }
    await post(`${path}/unarchive`)
    await recorded('DELETE', path)
    await recorded('DELETE', `${path}/permanent`)

    const broken = await newWorkflow({ edges: [{ from: 'end', to: 'nowhere' }] })
    for (const route of [
      `/api/workflows/${broken}/publish`,
      `/api/workflows/${broken}/simulate`,
      `/api/workflows/${broken}/backtest`,
      `/api/workflow/start/${broken}`,
      `/api/workflow/start-async/${broken}`,
    ]) {
      expect((await post(route)).body.error.code).toBe('VALIDATION_FAILED')
    }
    const busy = await newWorkflow({
      steps: [{ id: 'ask', type: 'collect-inputs', output: { a: { type: 'string' } } }],
    })
    await post(`/api/workflow/start/${busy}`)
    await recorded('DELETE', `/api/workflows/${busy}`)
    expect((await recorded('DELETE', `/api/workflows/${busy}/permanent`)).body.error.code).toBe('CONFLICT')
  })

  test('agents: create, ask, change, publish, versions, archive', async () => {
    const outputSchema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] }
    const path = `/api/agents/${(await post('/api/agents', { name: 'Recorded', outputSchema })).body.id}`
    for (const part of ['', '/schema', '/versions?limit=1', '/versions/1']) await get(`${path}${part}`)
    await get('/api/agents?limit=1')
    const { threadId } = (await post(`${path}/invoke`, { message: 'Hello' })).body
    await post(`${path}/invoke`, { message: 'Again', threadId, version: 1 })
    expect((await post(`${path}/invoke`)).body.error.code).toBe('MESSAGE_REQUIRED')
    expect((await post(`${path}/invoke`, { message: 'x', threadId: 'thr_nobody' })).status).toBe(404)
    const stale = { headers: { 'if-match': '"9"' } }
    expect((await recorded('PUT', path, { name: 'x' }, stale)).status).toBe(409)
    expect((await post(`${path}/publish`, {}, stale)).status).toBe(409)
    await post(`${path}/publish`)
    await recorded('PUT', path, { name: 'Changed', handoffs: ['agt_nobody'], supervisor: true })
    expect((await post(`${path}/publish`)).body.error.code).toBe('VALIDATION_FAILED')
    expect((await post(`${path}/invoke`, { message: 'x' })).body.error.code).toBe('AGENT_SUPERVISOR')
    await recorded('PUT', path, { outputSchema: null, supervisor: false, handoffs: [] })
    expect((await post(`${path}/invoke`, { message: 'x' })).body.error.code).toBe('AGENT_NO_STRUCTURED_OUTPUT')
    expect((await get(`${path}/schema`)).body.error.code).toBe('AGENT_NO_STRUCTURED_OUTPUT')
    await recorded('DELETE', path)
    expect((await recorded('PUT', path, { name: 'x' })).body.error.code).toBe('AGENT_ARCHIVED')
    expect((await post(`${path}/publish`)).body.error.code).toBe('AGENT_ARCHIVED')
    await post(`${path}/unarchive`)
  })

  test('chat: as one answer, as events, and resumed', () => recordChat(recorder))

  test('tools: create, change, publish, versions, archive', async () => {
    const config = { code: 'return 1' }
    const path = `/api/tools/${(await post('/api/tools', { name: 'Recorded', kind: 'script', config })).body.id}`
    for (const part of ['', '/versions?limit=1', '/versions/1']) await get(`${path}${part}`)
    await get('/api/tools?limit=1')
    for (const { id } of (await get('/api/tools?kind=builtin')).body) await get(`/api/tools/${id}`)
    const stale = { headers: { 'if-match': '"9"' } }
    expect((await recorded('PUT', path, { name: 'x' }, stale)).body.error.code).toBe('VERSION_CONFLICT')
    expect((await post(`${path}/publish`, {}, stale)).body.error.code).toBe('VERSION_CONFLICT')
    await recorded('PUT', path, { name: 'Changed', inputSchema: { type: 'object' } })
    await post(`${path}/publish`)
    await recorded('DELETE', path)
    expect((await recorded('PUT', path, { name: 'x' })).body.error.code).toBe('TOOL_ARCHIVED')
    expect((await post(`${path}/publish`)).body.error.code).toBe('TOOL_ARCHIVED')
    await post(`${path}/unarchive`)
    const builtin = '/api/tools/tool_read_file'
    expect((await recorded('PUT', builtin, { name: 'x' })).body.error.code).toBe('CONFLICT')
    expect((await recorded('DELETE', builtin)).body.error.code).toBe('CONFLICT')
    expect((await post(`${builtin}/publish`)).body.error.code).toBe('CONFLICT')
    await post('/api/tools/mcp/list', { url: 'http://127.0.0.1:9/mcp', timeoutMs: 1000 })
  })

  test('schedules: create, change, delete', async () => {
    await waysOut.recordSchedules(recorder, `/api/workflows/${await newWorkflow()}`)
  })

  test('start links: create, list, revoke', async () => {
    await waysOut.recordStartLinks(recorder, `/api/workflows/${await newWorkflow()}`)
  })

  test('inbound webhooks: create, change, rotate, try, receive, replay, delete', async () => {
    await waysOut.recordInbound(recorder, `/api/workflows/${await newWorkflow()}`)
  })

  test('definitions: export, compare, apply', () => recordDefinitions(recorder))

  test('the Model Context Protocol: a request, a notification', () => waysOut.recordMcp(recorder))

  test('runs: export; subjects: count, delete', async () => waysOut.recordSubjects(recorder, api, await pausedRun()))

  test('members, vault, keys, links, audit log', async () => waysOut.recordAdmin(recorder, api, await pausedRun()))

  test('events; uploads', () => Promise.all([waysOut.recordEvents(recorder), waysOut.recordUploads(recorder, api)]))

  test('webhooks: create, change, rotate, test, deliveries, delete', () => waysOut.recordWebhooks(recorder))

  test('invokes, files, service endpoints', async () => {
    await post('/api/tools/tool_add/invoke', { args: { a: 1, b: 2 } })
    await post('/api/tools/tool_throws/invoke')
    for (const path of ['/api/health', '/api/metrics']) await get(path)
    await recordOpenApi(recorder)
    const { body } = await form('/api/workflow/start/wf_document', 'Hello')
    expect((await get(`/api/files/${body.data.fileId}`)).body).toBe('Hello')
    const large = 'x'.repeat(3_932_161)
    for (const route of ['start', 'start-async']) {
      expect((await form(`/api/workflow/${route}/wf_document`, large)).body.error.code).toBe('FILE_TOO_LARGE')
    }
  })

  test('errors that any operation can return', async () => {
    for (const { method, path, operation } of operations) {
      if (operation['x-role'] === 'nobody') continue
      const url = pathTo(path, () => 'nobody')
      const bodyOf = (text?: string) => (method === 'GET' ? undefined : text)
      const codes: [number, Answer][] = [
        [401, await recorded(method, url, bodyOf('{}'), { headers: { 'x-api-key': 'sk_wrong_wrong_wrong' } })],
        [400, await recorded(method, `${url}?x=%00`, bodyOf('{}'))],
      ]
      if (operation['x-role'] !== 'viewer') {
        codes.push([403, await recorded(method, url, bodyOf('{}'), { headers: { 'x-api-key': viewer } })])
      }
      if (method !== 'GET') {
        const type = { headers: { 'content-type': 'text/csv' } }
        codes.push([415, await recorded(method, url, 'a,b', type)])
        const size = isLarge(operation.operationId) ? 8_400_000 : 1_100_000
        codes.push([413, await recorded(method, url, JSON.stringify({ x: 'x'.repeat(size) }))])
      }
      for (const [status, answer] of codes) expect(answer.status, `${method} ${path}`).toBe(status)
    }
  })

  test('an object that nobody has', async () => {
    for (const route of swept) {
      const answer = recorder.record(
        route.method,
        pathTo(route.path, () => 'x'),
        await attempt(api, route, 'nobody'),
      )
      expect(answer.status, route.path).toBe(404)
    }
  })

  test('one key for two requests, for every operation that takes a key', async () => {
    const [draft, failing] = [await newWorkflow(), await newWorkflow({ steps: [FAILS] })]
    const start = async (workflowId: string) => (await post(`/api/workflow/start/${workflowId}`, { name: 'Ada' })).body
    /** By the names of path parameters and of fields. The first example of a body is valid for these. */
    const objects: Record<string, string> = {
      ...{ id: draft, workflowId: 'wf_hello', runId: (await start('wf_hello')).runId },
      toolId: (await post('/api/tools', example('createTool'))).body.id,
      agentId: (await post('/api/agents', { name: 'x', outputSchema: { type: 'object' } })).body.id,
      ...(await waysOut.newDelivery(recorder, draft)),
    }
    /** A run for the operations that cannot do with one that has ended well. */
    const open: Record<string, () => Promise<string>> = {
      ...{ resumeRun: pausedRun, cancelRun: pausedRun, terminateRun: pausedRun },
      retryRun: async () => (await start(failing)).runId,
    }
    for (const { operation, path } of operations.filter(takesKey)) {
      const { operationId } = operation
      const ids = { ...objects, runId: (await open[operationId]?.()) ?? objects.runId }
      const idOf = (name: string) => ids[name as keyof typeof ids] ?? expect.fail(`an object with a ${name}`)
      // The definitions of the example would change a tool that is there.
      const given = operationId === 'applyDefinitions' ? {} : example(operationId)
      const [url, body] = [pathTo(path, idOf), naming(given, idOf)]
      const key = newKey()
      if (operationId === 'chat') Object.assign(key.headers, { accept: 'application/json' })
      expect((await post(url, body, key)).status, path).toBeLessThan(300)
      const again = await post(url, body, key)
      expect([again.status < 300, again.headers.get('idempotent-replayed')], path).toEqual([true, 'true'])
      expect((await post(url, { ...body, other: 1 }, key)).body.error.code, path).toBe('IDEMPOTENCY_KEY_REUSED')
    }
  })

  test('rate limits', async () => {
    const env = { ...TEST_ENV, RATE_LIMIT_REQUESTS: '1', RATE_LIMIT_FAILURES: '1', METRICS_TOKEN: 'x'.repeat(16) }
    const limited = await startWeb({ databaseUrl: api.database.url, env })
    try {
      const caller = { ...limited, apiKey: api.apiKey, tenantId: api.tenantId }
      await call(caller, 'GET', '/api/workflow/runs')
      const headers = { authorization: `Bearer ${env.METRICS_TOKEN}` }
      recorder.record('GET', '/api/metrics', await call(caller, 'GET', '/api/metrics', undefined, { headers }))
      for (const { method, path, operation } of operations) {
        if (!operation.responses[429]) continue
        // An unknown address is refused until there were too many of them.
        if (operation['x-role'] === 'nobody') recorder.record(method, path, await call(caller, method, path))
        const url = path.replace(/\{\w+\}/g, 'x').replace(/openapi\.json$/, '$&?workflows=published')
        const answer = await call(caller, method, url, method === 'GET' ? undefined : {})
        expect(recorder.record(method, url, answer).status, path).toBe(429)
        expect(Number(answer.headers.get('retry-after')), path).toBeGreaterThan(0)
      }
    } finally {
      await limited.stop()
    }
  })

  test('every documented answer was seen', () => {
    /** Too many streams: covered by test/api/streams. */
    const rare = /^\w+ (500 \w+|503( \w+)?|429 (THREAD_BUSY|TOO_MANY_STREAMS))$/
    /** A request whose key another request took over: covered by test/rest. */
    const taken = /^(?!(?:deleteWorkflowPermanently|retryRun|updateTool|archiveTool|publishTool) )\w+ 409 CONFLICT$/
    const documented = operations.flatMap(({ operation }) =>
      Object.entries(operation.responses).flatMap(([status, response]) => {
        const examples = Object.keys(response.content?.['application/json']?.examples ?? {})
        // Health's examples are not errors.
        const codes = Number(status) >= 400 ? examples.filter((name) => name === name.toUpperCase()) : []
        return (codes.length > 0 ? codes : ['']).map((code) => `${operation.operationId} ${status} ${code}`.trim())
      }),
    )
    expect(documented.length).toBeGreaterThan(150)
    expect(documented.filter((entry) => !recorder.seen.has(entry) && !rare.test(entry) && !taken.test(entry))).toEqual(
      [],
    )
  })
})

describe('GET /api/openapi.json', () => {
  test('gives the address at which it was requested, and any page may read it', async () => {
    const { body, headers } = await api.call('GET', '/api/openapi.json')
    expect(body.servers[0].url).toBe(api.url)
    expect(headers.get('access-control-allow-origin')).toBe('*')
    expect((await api.call('POST', '/api/openapi.json', {})).status).toBe(405)
  })
})

describe('/reference', () => {
  test('shows every operation and every field of every body, and contacts no other host', async () => {
    const response = await fetch(`${api.url}/reference`)
    const html = await response.text()
    expect(response.status).toBe(200)
    const missing = operations.filter(
      ({ operation }) =>
        !html.includes(`id="${operation.operationId}"`) || !html.includes(`href="#${operation.operationId}"`),
    )
    expect(missing.map(({ operation }) => operation.operationId)).toEqual([])
    const fields = Object.entries(recorder.document.components.schemas).flatMap(([name, schema]) =>
      (schema.oneOf ?? [schema]).flatMap((variant) =>
        Object.keys(variant.properties ?? {}).map((field) => `${name}.${field}`),
      ),
    )
    expect(fields.length).toBeGreaterThan(100)
    expect(fields.filter((field) => !html.includes(`id="schema-${field}`))).toEqual([])
    expect([...html.matchAll(/(?:src|href)="(?:https?:)?\/\/[^"]*"/g)].map(([found]) => found)).toEqual([])
  })
})
