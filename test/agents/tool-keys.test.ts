import type { ServerResponse } from 'node:http'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createAgent } from '@/server/agents/lifecycle'
import { createTool } from '@/server/tools/lifecycle'
import { runTool } from '@/server/tools/run'
import { type Outside, type Seen, startOutside } from '../net/outside'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { keyed } from '../support/keyed'
import { type ModelServer, type Reply, startModelServer } from '../support/model'
import { startTestRuntime, type TestRuntime } from '../support/runtime'
import { chat, invokeAgent } from '../support/talk'

let database: FreshDatabase
let runtime: TestRuntime
let model: ModelServer
let receiver: Outside

beforeAll(async () => {
  database = await freshDatabase()
  runtime = await startTestRuntime(database.url, {
    ENCRYPTION_KEY: 'ab'.repeat(32),
    ALLOW_PRIVATE_HOSTS: '127.0.0.1',
  })
  model = await startModelServer()
  receiver = await startOutside(answer)
})
beforeEach(() => {
  receiver.seen.length = 0
})
afterAll(async () => {
  await receiver?.stop()
  await model?.close()
  await runtime?.stop()
  await database?.close()
})

/** A receiver of orders, and an MCP server with one tool. */
function answer({ url, body }: Seen, response: ServerResponse): void {
  const { id, method } = url === '/mcp' && body !== '' ? JSON.parse(body) : { id: 0, method: null }
  response.setHeader('content-type', 'application/json')
  if (url === '/mcp' && id === undefined) response.writeHead(202).end()
  else response.end(JSON.stringify({ jsonrpc: '2.0', id, result: RESULTS[method] ?? {} }))
}

const RESULTS: Record<string, object> = {
  initialize: {
    protocolVersion: '2025-06-18',
    capabilities: { tools: {} },
    serverInfo: { name: 'orders', version: '1' },
  },
  'tools/call': { content: [{ type: 'text', text: 'done' }] },
}

/** The tools of the three kinds that reach outside; each forwards its arguments. */
async function newTools() {
  const { ctx } = runtime
  const hosts = [`127.0.0.1:${receiver.port}`]
  const http = { method: 'POST', url: `${receiver.url}/http`, body: '${args}' }
  const code = `await fetch('${receiver.url}/script', { method: 'POST', body: JSON.stringify(args) })`
  const mcp = { url: `${receiver.url}/mcp`, toolName: 'order' }
  return {
    http: (await createTool(ctx, { name: 'Http', kind: 'http', config: http })).id,
    script: (await createTool(ctx, { name: 'Script', kind: 'script', config: { code, allowedHosts: hosts } })).id,
    mcp: (await createTool(ctx, { name: 'Mcp', kind: 'mcp', config: mcp })).id,
  }
}

async function newAgent(fields: object): Promise<string> {
  const settings = { provider: 'openai-compatible', modelId: 'm', baseUrl: model.url }
  return (await createAgent(runtime.ctx, { name: 'A', instructions: 'x', model: settings, ...fields })).id
}

const outputSchema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] }
const done: Reply = { text: '{"n":1}' }

const definition = (agentId: string) => ({
  initialStep: 'ask',
  steps: [
    { id: 'ask', type: 'call-agent', agentId, message: 'x', retry: { maxAttempts: 3, delayMs: 1 } },
    { id: 'end', type: 'end-flow' },
  ],
  edges: [{ from: 'ask', to: 'end' }],
})

/** The calls that change something, with their keys. */
function calls(): [string, string | undefined][] {
  return receiver.seen
    .splice(0)
    .filter(({ url, body }) => url !== '/mcp' || body.includes('tools/call'))
    .map(({ url, body, headers }) => {
      const args = url === '/mcp' ? JSON.parse(body).params.arguments : JSON.parse(body)
      return [`${url} ${JSON.stringify(args)}`, headers['idempotency-key'] as string | undefined]
    })
}
const keysOf = (list: [string, string | undefined][]) => list.map(([, key]) => key)

test('in a run, the key of a tool call is that of its visit and the number of the call', async () => {
  const { http, script, mcp } = await newTools()
  const agentId = await newAgent({ tools: [http, script, mcp], outputSchema })
  const a = { name: http, args: { item: 'a', n: 1 }, id: 'call' }
  const round = [a, { name: mcp, args: { item: 'a' }, id: 'call' }, a, { name: script, args: {} }]
  // The next attempt continues the turn.
  model.script({ calls: round }, { status: 503, headers: { 'retry-after': '0' } }, { calls: [a] }, done)
  const run = await runtime.wait(await runtime.start(definition(agentId)))
  expect(run.status).toBe('completed')
  const made = calls().map(
    ([call, key]) => `${call} ${call.startsWith('/script') ? '' : key?.replace(run.runId, 'run')}`,
  )
  expect(made.sort()).toEqual([
    '/http {"item":"a","n":1} run:main:ask:1:2',
    '/http {"item":"a","n":1} run:main:ask:1:4',
    '/http {"item":"a","n":1} run:main:ask:1:7',
    '/mcp {"item":"a"} run:main:ask:1:3',
    '/script {} ',
  ])
})

test('a script has the key of its call in scope, and may have a variable of that name', async () => {
  const script = async (code: string) =>
    (await createTool(runtime.ctx, { name: 'Script', kind: 'script', config: { code } })).id
  const called = async (toolId: string, idempotencyKey?: string) =>
    runTool(
      runtime.ctx,
      { toolId, args: {}, dataContext: {} },
      { signal: new AbortController().signal, idempotencyKey },
    )
  const own = await script('return idempotencyKey')
  expect(await called(own, 'a key')).toMatchObject({ data: 'a key' })
  expect(await called(own)).toMatchObject({ data: null })
  const named = await script('const idempotencyKey = 1; return idempotencyKey + 1')
  expect(await called(named, 'a key')).toMatchObject({ data: 2 })
  const agentId = await newAgent({ tools: [own], outputSchema })
  model.script({ calls: [{ name: own, args: {} }] }, done)
  const { runId } = await runtime.wait(await runtime.start(definition(agentId)))
  const result = model.calls[1]?.body.messages.find(({ role }: { role: string }) => role === 'tool')
  expect(result?.content).toBe(JSON.stringify(`${runId}:main:ask:1:2`))
})

test('a repeated request makes no call again; one that was under way has the same key', async () => {
  const { http, script, mcp } = await newTools()
  const agentId = await newAgent({ tools: [http, script, mcp], outputSchema })
  const a = { name: http, args: { item: 'a', n: 1 } }
  const others = [
    { name: script, args: { item: 'a' } },
    { name: mcp, args: { item: 'a' } },
  ]
  const request = () =>
    invokeAgent(
      { ...runtime.ctx, keyed: keyed('of a request') },
      { agentId, body: { message: 'x' } },
      new AbortController().signal,
    )
  model.script({ calls: [a, a, ...others] }, { status: 400 })
  await expect(request()).rejects.toMatchObject({ code: 'MODEL_ERROR' })
  const first = calls()
  expect(new Set(keysOf(first)).size).toBe(4)
  expect(keysOf(first)).toEqual(expect.arrayContaining([2, 3, 5].map((n) => `of a request:${n}`)))
  // As if the process had died before it recorded the result of the first call.
  await database.sql`delete from agent_calls where seq = 2 and turn_id in (
    select id from agent_turns where key = 'of a request')`
  model.script(done)
  expect(await request()).toMatchObject({ data: { n: 1 } })
  expect(keysOf(calls())).toEqual(['of a request:2'])
})

test('the keys of another run, another visit and another agent’s hand-off differ', async () => {
  const { http } = await newTools()
  const call = { name: http, args: { item: 'a' } }
  const clerk = await newAgent({ name: 'Clerk', tools: [http], outputSchema })
  const agentId = await newAgent({ tools: [http], outputSchema })
  model.answer((_call, index) => (index % 2 === 0 ? { calls: [call] } : done))
  for (let runs = 0; runs < 2; runs++) await runtime.wait(await runtime.start(definition(agentId)))
  const loop = {
    ...definition(agentId),
    steps: [
      { id: 'ask', type: 'for-each', items: [1, 2] },
      { id: 'call', type: 'call-agent', agentId, message: 'x', saveAs: 'answer' },
      { id: 'end', type: 'end-flow' },
    ],
    edges: [
      { from: 'ask', to: 'call', on: 'each' },
      { from: 'ask', to: 'end', on: 'done' },
    ],
  }
  const run = await runtime.wait(await runtime.start(loop))
  expect(run.status).toBe('completed')
  const boss = await newAgent({ supervisor: true, tools: [http], handoffs: [clerk] })
  model.script({ calls: [call, { name: `handoff_${clerk}`, args: { message: 'x' } }] }, { calls: [call] }, done, {
    text: 'Done.',
  })
  await chat(
    { ...runtime.ctx, keyed: keyed('of the request') },
    { agentId: boss, message: 'x' },
    new AbortController().signal,
  )
  const keys = keysOf(calls())
  expect(keys).toHaveLength(6)
  expect(new Set(keys).size).toBe(6)
  expect(keys).not.toContain(undefined)
})
