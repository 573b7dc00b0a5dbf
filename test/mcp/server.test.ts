import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ServiceContext } from '@/server/context'
import type { Role } from '@/server/roles'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { type ModelServer, startModelServer } from '../support/model'
import { startTestRuntime, type TestRuntime } from '../support/runtime'
import { callTool, connect, named, serveMcp, tokenOf } from './support'

let database: FreshDatabase
let runtime: TestRuntime
let model: ModelServer
let server: Awaited<ReturnType<typeof serveMcp>>
let owner: ServiceContext
let other: ServiceContext
let operator: Client
let keys: Record<string, Record<string, string>>
const ids: Record<string, string> = {}

const payload = {
  item: { type: 'string', required: true, description: 'What to order.' },
  amount: { type: 'integer', required: false },
}
const ask = { id: 'ask', type: 'collect-inputs', title: 'How much?', output: { price: { type: 'number' } } }
const decide = { id: 'decide', type: 'request-user-action', actions: [{ id: 'approve', label: 'Approve' }] }
const end = { id: 'end', type: 'end-flow', output: { item: '${item}', price: '${price}' } }
const ORDER = { item: 'chairs', amount: 12 }

beforeAll(async () => {
  database = await freshDatabase()
  const settings = {
    ENCRYPTION_KEY: 'ab'.repeat(32),
    JWT_AUDIENCE: 'app.example.com',
    ALLOW_PRIVATE_HOSTS: '127.0.0.1',
    RATE_LIMIT_INVOKES: '20',
  }
  runtime = await startTestRuntime(database.url, settings)
  model = await startModelServer()
  server = await serveMcp()
  owner = runtime.ctx
  other = await runtime.as('owner', 'ten_other')
  const { createApiKey } = await import('@/server/credentials/api-keys/create')
  const key = async (ctx: ServiceContext, role: Role) => ({
    'x-api-key': (await createApiKey(ctx, { name: role, role })).key,
  })
  keys = {
    operator: await key(owner, 'operator'),
    viewer: await key(owner, 'viewer'),
    other: await key(other, 'owner'),
  }
  const order = { description: 'Buys something.', payload }
  ids.plain = await workflow(owner, 'Order a chair!', { ...order, steps: [{ ...end, output: { item: '${item}' } }] })
  const steps = [ask, decide, end]
  const edges = [
    { from: 'ask', to: 'decide' },
    { from: 'decide', to: 'end' },
  ]
  ids.asks = await workflow(owner, 'Ask first', { ...order, steps, edges })
  ids.foreign = await workflow(other, 'Ask first', { ...order, steps, edges })
  ids.draft = await workflow(owner, 'A draft', { steps: [end] }, false)
  ids.tool = await tool(owner, 'Add', 'return args.a + args.b')
  await tool(owner, 'Throw', 'throw new Error("no luck")')
  operator = await connect(server.url, keys.operator ?? {})
})
afterAll(async () => {
  await server?.close()
  await model?.close()
  await runtime?.stop()
  await (await import('@/server/tools/sandbox/run-script')).stopSandbox()
  await database?.close()
})

async function workflow(ctx: ServiceContext, name: string, definition: object, publish = true): Promise<string> {
  const { createWorkflow, publishWorkflow } = await import('@/server/workflows/lifecycle')
  const { id } = await createWorkflow(ctx, { name, ...definition })
  if (publish) await publishWorkflow(ctx, { id })
  return id
}

async function tool(ctx: ServiceContext, name: string, code: string): Promise<string> {
  const { createTool, publishTool } = await import('@/server/tools/lifecycle')
  const inputSchema = { properties: { a: { type: 'number' }, b: true } }
  const { id } = await createTool(ctx, { name, kind: 'script', config: { code }, inputSchema })
  await publishTool(ctx, { id })
  return id
}

async function agent(name: string, fields: object): Promise<string> {
  const { createAgent, publishAgent } = await import('@/server/agents/lifecycle')
  const { id } = await createAgent(owner, {
    name,
    model: { provider: 'openai-compatible', modelId: 'm', baseUrl: model.url },
    ...fields,
  })
  await publishAgent(owner, { id })
  return id
}

const titles = async (client: Client) => (await client.listTools()).tools.map(({ title }) => title)
const FIXED = ['Get a run', 'Answer a paused run', 'Cancel a run', 'List workflows', 'Get a workflow']
const BUILDING = [
  ...['Get the schema of workflows', 'Create a workflow', 'Edit a workflow', 'Check a workflow'],
  ...['Simulate a workflow', 'Publish a workflow'],
]

describe('workflows', () => {
  test('are tools with their START fields, and return the run when it has ended', async () => {
    const { tools } = await operator.listTools()
    const listed = tools.find(({ title }) => title === 'Order a chair!')
    expect(listed).toMatchObject({
      name: expect.stringMatching(/^order_a_chair_[0-9a-f]{12}$/),
      description: expect.stringMatching(/^Buys something\./),
      inputSchema: { type: 'object', required: ['item'], properties: { item: { description: 'What to order.' } } },
    })
    expect(tools.map(({ title }) => title)).not.toContain('A draft')
    const run = await callTool(operator, listed?.name ?? '', { item: 'Chair' })
    expect(run).toMatchObject({ status: 'completed', result: { item: 'Chair' }, pauses: [], workflowId: ids.plain })
    const wrong = await callTool(operator, listed?.name ?? '', { item: 7 })
    expect(wrong).toMatchObject({ isError: true, error: { code: 'INVALID_INPUT', details: [{ path: 'item' }] } })
  })

  test('return the pause they wait at, and continue with the answer', async () => {
    const run = await callTool(operator, await named(operator, 'Ask first'), { item: 'Desk' })
    expect(run).toMatchObject({
      status: 'paused',
      pauses: [{ type: 'collect_inputs', stepId: 'ask', fields: { price: { type: 'number' } } }],
    })
    const { runId } = run
    const wrong = await callTool(operator, 'answer_run', { runId, type: 'request_user_action', actionId: 'approve' })
    expect(wrong).toMatchObject({ isError: true, error: { code: 'INVALID_INPUT' } })
    const next = await callTool(operator, 'answer_run', { runId, type: 'collect_inputs', data: { price: 3 } })
    expect(next).toMatchObject({ runId, status: 'paused', pauses: [{ type: 'request_user_action' }] })
    const done = await callTool(operator, 'answer_run', { runId, type: 'request_user_action', actionId: 'approve' })
    expect(done).toMatchObject({ runId, status: 'completed', result: { item: 'Desk', price: 3 } })
    expect(await callTool(operator, 'get_run', { runId })).toMatchObject({ status: 'completed', data: { price: 3 } })
    const late = await callTool(operator, 'answer_run', { runId, type: 'collect_inputs', data: {} })
    expect(late).toMatchObject({ isError: true, error: { code: 'RUN_NOT_PAUSED' } })
  })

  test('can be cancelled, and keep their tool under a new name', async () => {
    const before = await named(operator, 'Ask first')
    const { updateWorkflow, publishWorkflow } = await import('@/server/workflows/lifecycle')
    await updateWorkflow(owner, { id: ids.asks ?? '', body: { name: '¿Qué? 最初' } })
    await publishWorkflow(owner, { id: ids.asks ?? '' })
    expect(await named(operator, '¿Qué? 最初')).toMatch(/^que_[0-9a-f]{12}$/)
    const { runId } = await callTool(operator, before, { item: 'Lamp' })
    const cancelled = await callTool(operator, 'cancel_run', { runId, reason: 'Enough' })
    expect(cancelled).toMatchObject({ runId, outcome: 'cancelled' })
    expect(await callTool(operator, 'get_run', { runId })).toMatchObject({ status: 'failed', outcome: 'cancelled' })
  })
})

describe('tools and agents', () => {
  test('a tool takes its arguments; its exception is an error that the model sees', async () => {
    const add = await named(operator, 'Add')
    expect(await callTool(operator, add, { a: 1, b: 2 })).toEqual({ data: 3 })
    expect(await callTool(operator, add, { a: 'x' })).toMatchObject({ isError: true, error: { code: 'INVALID_INPUT' } })
    const thrown = await callTool(operator, await named(operator, 'Throw'))
    expect(thrown).toMatchObject({
      isError: true,
      error: { code: 'EXECUTION_ERROR', message: expect.stringContaining('no luck') },
    })
  })

  test('an agent answers with data or in text, and a thread continues', async () => {
    const outputSchema = { type: 'object', properties: { item: { type: 'string' }, amount: { type: 'number' } } }
    await agent('Orders', { outputSchema })
    await agent('Speaks', {})
    model.script({ text: JSON.stringify(ORDER) }, { text: 'Hello, Ada.' }, { text: 'Ada.' })
    const orders = await callTool(operator, await named(operator, 'Orders'), { message: '12 chairs' })
    expect(orders).toEqual({ data: ORDER, threadId: expect.stringMatching(/^thr_/) })
    const speaks = await named(operator, 'Speaks')
    const hello = await callTool(operator, speaks, { message: 'I am Ada.' })
    expect(hello).toMatchObject({ message: 'Hello, Ada.' })
    const who = await callTool(operator, speaks, { message: 'Who am I?', threadId: hello.threadId })
    expect(who).toEqual({ message: 'Ada.', threadId: hello.threadId })
    expect(JSON.stringify(model.calls.at(-1)?.body)).toContain('I am Ada.')
    expect(await callTool(operator, speaks, {})).toMatchObject({ isError: true, error: { code: 'MESSAGE_REQUIRED' } })
  })
})

describe('who is shown what', () => {
  test('a viewer reads and calls nothing', async () => {
    const viewer = await connect(server.url, keys.viewer ?? {})
    expect(await titles(viewer)).toEqual(['Get a run', 'List workflows', 'Get a workflow'])
    for (const name of [
      'answer_run',
      'cancel_run',
      'create_workflow',
      'publish_workflow',
      await named(operator, 'Add'),
      await named(operator, 'Order a chair!'),
    ])
      await expect(callTool(viewer, name, { item: 'x' })).rejects.toMatchObject({ code: -32602 })
    const { resources } = await viewer.listResources()
    expect(resources.length).toBeGreaterThan(0)
  })

  test('another workspace’s objects do not exist', async () => {
    const { runId } = await callTool(operator, await named(operator, '¿Qué? 最初'), { item: 'Lamp' })
    const stranger = await connect(server.url, keys.other ?? {})
    expect(await titles(stranger)).toEqual([...FIXED, ...BUILDING, 'Ask first'])
    // The same definition, but another tool.
    expect(await named(stranger, 'Ask first')).not.toBe(await named(operator, '¿Qué? 最初'))
    const unknown = await callTool(stranger, 'get_run', { runId: 'run_nobody' })
    expect(await callTool(stranger, 'get_run', { runId })).toEqual(unknown)
    expect(unknown).toMatchObject({ isError: true, error: { code: 'RUN_NOT_FOUND' } })
    for (const title of ['Add', 'Orders', 'Order a chair!']) {
      const name = await named(operator, title)
      await expect(callTool(stranger, name, { item: 'x' })).rejects.toThrow(`Unknown tool: ${name}`)
    }
    await expect(stranger.readResource({ uri: `millrace://runs/${runId}` })).rejects.toMatchObject({ code: -32002 })
    const { resources } = await stranger.listResources()
    expect(resources.map(({ uri }) => uri)).toEqual(['millrace://schemas/workflow'])
  })

  test('a limited token sees only objects within its reach', async () => {
    const { createSigningSecret } = await import('@/server/credentials/signing-secrets/create')
    const limits = { workflowIds: [ids.asks], agentIds: [], ownRuns: true }
    const secret = await createSigningSecret(owner, { name: 'Limited', role: 'operator', ...limits })
    const [ada, bob] = await Promise.all(['ada', 'bob'].map((sub) => connect(server.url, tokenOf(secret, sub))))
    if (!ada || !bob) throw new Error('not connected')
    expect(await titles(ada)).toEqual([...FIXED, '¿Qué? 最初'])
    // Even if a role that may build were stored with it, its reach is limited.
    const raised = await createSigningSecret(owner, { name: 'Raised', role: 'operator', ...limits })
    await database.sql`update signing_secrets set role = 'editor' where id = ${raised.id}`
    const editor = await connect(server.url, tokenOf(raised, 'eve'))
    expect(await titles(editor)).toEqual([...FIXED, '¿Qué? 最初'])
    for (const name of ['get_workflow_schema', 'create_workflow', 'edit_workflow', 'publish_workflow'])
      await expect(callTool(editor, name, {})).rejects.toMatchObject({ code: -32602 })
    await expect(callTool(ada, await named(operator, 'Add'), { a: 1, b: 1 })).rejects.toMatchObject({ code: -32602 })
    const { runId } = await callTool(ada, await named(ada, '¿Qué? 最初'), { item: 'Lamp' })
    const uri = `millrace://runs/${runId}`
    expect((await ada.listResources()).resources.map((resource) => resource.uri)).toEqual([uri])
    expect((await bob.listResources()).resources).toEqual([])
    await expect(bob.readResource({ uri })).rejects.toMatchObject({ code: -32002 })
    expect(await callTool(bob, 'cancel_run', { runId })).toMatchObject({ error: { code: 'RUN_NOT_FOUND' } })
  })
})

describe('resources', () => {
  test('are the newest runs and the open tasks', async () => {
    const { runId } = await callTool(operator, await named(operator, '¿Qué? 最初'), { item: 'Shelf' })
    const { resources } = await operator.listResources()
    expect(resources.length).toBeLessThanOrEqual(100)
    const task = resources.find(({ uri }) => uri.startsWith(`millrace://tasks/${runId}/`))
    expect(task).toMatchObject({ title: expect.stringContaining('How much?'), mimeType: 'application/json' })
    const read = async (uri: string) => {
      const [content] = (await operator.readResource({ uri })).contents
      return JSON.parse(content && 'text' in content ? content.text : '')
    }
    expect(await read(`millrace://runs/${runId}`)).toMatchObject({ runId, status: 'paused', data: { item: 'Shelf' } })
    expect(await read(task?.uri ?? '')).toMatchObject({ runId, status: 'open', signal: { type: 'collect_inputs' } })
  })

  test.each([
    ...[
      'millrace://',
      'millrace://schemas/workflow',
      'millrace://runs',
      'millrace://runs/',
      'millrace://runs/run_nobody',
      'millrace://runs/%00',
    ],
    ...[
      'millrace://runs/%ff',
      'millrace://runs/a/b',
      'millrace://tasks/a',
      'millrace://tasks/a/%00',
      'file:///etc/passwd',
    ],
  ])('%s is not one', async (uri) => {
    await expect(operator.readResource({ uri })).rejects.toMatchObject({ code: -32002 })
  })
})

describe('the transport', () => {
  const post = async (body: unknown, headers: Record<string, string> = keys.operator ?? {}) => {
    const response = await fetch(server.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
    const text = await response.text()
    return { status: response.status, body: text === '' ? null : JSON.parse(text) }
  }
  const call = (name: unknown, args: unknown, id: unknown = 1) =>
    post({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args } })

  test('keeps no session: any message may come first, and there is no stream', async () => {
    const { status, body } = await call('get_run', { runId: 'run_nobody' })
    expect([status, body.result.isError]).toEqual([200, true])
    expect(await post({ jsonrpc: '2.0', method: 'notifications/initialized' })).toEqual({ status: 202, body: null })
    for (const method of ['GET', 'DELETE', 'PUT', 'PATCH'])
      expect((await fetch(server.url, { method, headers: keys.operator ?? {} })).status).toBe(405)
  })

  test('needs a credential', async () => {
    for (const headers of [{}, { 'x-api-key': 'sk_wrong' }, { authorization: 'Bearer x' }])
      expect((await post({ jsonrpc: '2.0', id: 1, method: 'ping' }, headers as never)).status).toBe(401)
  })

  test.each<[string, unknown]>([
    ['no JSON', '{'],
    ['a list', [{ jsonrpc: '2.0', id: 1, method: 'ping' }]],
    ['nothing', ''],
    ['no message', { x: 1 }],
    ['another version', { jsonrpc: '1.0', id: 1, method: 'ping' }],
    ['an id that is no text or number', { jsonrpc: '2.0', id: {}, method: 'ping' }],
    ['a NUL character', '{"jsonrpc":"2.0","id":1,"method":"\\u0000"}'],
    ['too deep', `{"jsonrpc":"2.0","id":1,"method":"ping","params":${'['.repeat(100)}${']'.repeat(100)}}`],
  ])('%s is refused', async (_, body) => {
    expect(await post(body)).toMatchObject({ status: 400, body: { success: false, error: { code: 'INVALID_INPUT' } } })
  })

  test.each<[unknown, unknown]>([
    ['__proto__', {}],
    ['constructor', {}],
    ['toString', {}],
    ['get_run_000000000000', {}],
    ['x'.repeat(100_000), {}],
    ["a_'; drop", {}],
    ['', {}],
    [7, {}],
    ['get_run', []],
    ['get_run', 'run'],
  ])('the tool %# is unknown', async (name, args) => {
    const { status, body } = await call(name, args)
    expect([status, body.error.code < 0, body.result]).toEqual([200, true, undefined])
  })

  test.each<[string, unknown]>([
    ['get_run', {}],
    ['get_run', { runId: { a: 1 } }],
    ['get_run', { runId: '../../x' }],
    ['answer_run', { runId: 'run_nobody' }],
    ['answer_run', { runId: 'run_nobody', type: 'collect_inputs', data: [] }],
    ['cancel_run', { runId: ['a'] }],
  ])('%s refuses %j', async (name, args) => {
    const { body } = await call(name, args)
    expect(body.result).toMatchObject({ isError: true, structuredContent: { error: { details: expect.any(Array) } } })
    expect(body.result.structuredContent.error.code).toMatch(/^(RUN_NOT_FOUND|INVALID_INPUT)$/)
  })

  test('a call counts against the limit of its kind', async () => {
    const { createApiKey } = await import('@/server/credentials/api-keys/create')
    const { key } = await createApiKey(owner, { name: 'busy', role: 'operator' })
    const busy = await connect(server.url, { 'x-api-key': key })
    const add = await named(busy, 'Add')
    const from = Date.now()
    let allowed = 0
    let refused: unknown = null
    while (refused === null && allowed < 100) {
      const answer = await callTool(busy, add, { a: allowed, b: 1 })
      if ('data' in answer) expect(answer).toEqual({ data: ++allowed })
      else refused = answer
    }
    expect(refused).toMatchObject({ isError: true, error: { code: 'RATE_LIMITED' } })
    // Every three seconds there is room for one more.
    expect(allowed).toBeGreaterThanOrEqual(20)
    expect(allowed).toBeLessThanOrEqual(20 + Math.ceil((Date.now() - from) / 3_000))
    expect(await callTool(busy, await named(busy, 'Order a chair!'), { item: 'x' })).toMatchObject({
      status: 'completed',
    })
  })

  test('a cursor of no page is refused', async () => {
    for (const cursor of ['', 'x', 'user/1', "workflow/'", '\ud7ff'])
      await expect(operator.listTools({ cursor })).rejects.toMatchObject({ code: -32602 })
  })

  test('more tools than a page holds are listed once each', async () => {
    const many = await runtime.as('owner', 'ten_many')
    const steps = [{ id: 'end', type: 'end-flow' }]
    await Promise.all(Array.from({ length: 51 }, () => workflow(many, 'Same name', { steps })))
    const { createApiKey } = await import('@/server/credentials/api-keys/create')
    const { key } = await createApiKey(many, { name: 'x', role: 'operator' })
    const client = await connect(server.url, { 'x-api-key': key })
    const first = await client.listTools()
    const second = await client.listTools({ cursor: first.nextCursor })
    const names = [...first.tools, ...second.tools].map(({ name }) => name)
    expect([first.tools.length, second.tools.length, second.nextCursor]).toEqual([50, 6, undefined])
    expect(new Set(names).size).toBe(56)
  })
})
