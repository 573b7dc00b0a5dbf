import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { ElicitRequestSchema, type ElicitResult } from '@modelcontextprotocol/sdk/types.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ServiceContext } from '@/server/context'
import type { PauseSignal } from '@/server/definition/run'
import { answerTo, questionOf } from '@/server/mcp/questions'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { startTestRuntime, type TestRuntime } from '../support/runtime'
import { callTool, connect, named, serveMcp } from './support'

let database: FreshDatabase
let runtime: TestRuntime
let server: Awaited<ReturnType<typeof serveMcp>>
let owner: ServiceContext
let key: Record<string, string>
const clients: Client[] = []

const ask = {
  ...{ id: 'ask', type: 'collect-inputs', title: 'How much?' },
  output: {
    price: { type: 'number', description: 'In euros' },
    size: { type: 'string', options: ['small', 'large'], required: false },
    notes: { type: 'object', required: false },
  },
}
const actions = [
  { id: 'approve', label: 'Approve it' },
  { id: 'reject', label: 'Reject it' },
]
const decide = { id: 'decide', type: 'request-user-action', title: 'May it be bought?', actions }
const end = { id: 'end', type: 'end-flow', output: { price: '${price}', decision: '${decide.actionId}' } }
const edges = [
  { from: 'ask', to: 'decide' },
  { from: 'decide', to: 'end' },
]

beforeAll(async () => {
  database = await freshDatabase()
  runtime = await startTestRuntime(database.url, { ENCRYPTION_KEY: 'ab'.repeat(32) })
  server = await serveMcp()
  owner = runtime.ctx
  const { createApiKey } = await import('@/server/credentials/api-keys/create')
  key = { 'x-api-key': (await createApiKey(owner, { name: 'operator', role: 'operator' })).key }
  await workflow('Ask first', { steps: [ask, decide, end], edges })
  await workflow('Ask an admin', { steps: [{ ...decide, assignees: ['role:admin'] }] })
})
afterAll(async () => {
  for (const client of clients) await client.close()
  await server?.close()
  await runtime?.stop()
  await database?.close()
})

async function workflow(name: string, definition: object): Promise<void> {
  const { createWorkflow, publishWorkflow } = await import('@/server/workflows/lifecycle')
  const { id } = await createWorkflow(owner, { name, ...definition } as never)
  await publishWorkflow(owner, { id })
}

/** A client whose person answers like this. @returns it, and its questions */
async function person(answer: (message: string) => ElicitResult | Promise<ElicitResult>) {
  const client = await connect(server.url, key)
  clients.push(client)
  const asked: { message: string; requestedSchema: unknown }[] = []
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
    asked.push({
      message: params.message,
      requestedSchema: 'requestedSchema' in params ? params.requestedSchema : null,
    })
    return answer(params.message)
  })
  return { client, asked }
}
const fills = (message: string): ElicitResult =>
  message === 'How much?'
    ? { action: 'accept', content: { price: 3, size: 'large' } }
    : { action: 'accept', content: { action: 'approve' } }

describe('a client that can ask its user', () => {
  test('is asked everything that a run waits for, one after the other, and gets how it ended', async () => {
    const { client, asked } = await person(fills)
    const run = await callTool(client, await named(client, 'Ask first'))
    expect(run).toMatchObject({ status: 'completed', result: { price: 3, decision: 'approve' } })
    expect(asked).toEqual([
      {
        message: 'How much?',
        requestedSchema: {
          type: 'object',
          properties: {
            price: { type: 'number', description: 'In euros' },
            size: { type: 'string', enum: ['small', 'large'] },
          },
          required: ['price'],
        },
      },
      {
        message: 'May it be bought?',
        requestedSchema: {
          type: 'object',
          properties: {
            action: {
              ...{ type: 'string', title: 'Decision' },
              oneOf: [
                { const: 'approve', title: 'Approve it' },
                { const: 'reject', title: 'Reject it' },
              ],
            },
          },
          required: ['action'],
        },
      },
    ])
  })

  test.each(['decline', 'cancel'] as const)('returns what the run waits for, if its user says %s', async (action) => {
    const { client, asked } = await person(() => ({ action }))
    const began = Date.now()
    const run = await callTool(client, await named(client, 'Ask first'))
    expect([run.status, run.pauses[0].stepId, asked.length]).toEqual(['paused', 'ask', 1])
    expect(Date.now() - began).toBeLessThan(20_000)
  })

  test('returns the run’s pause, if the answer is refused, and another person’s answer counts', async () => {
    const { client } = await person(async (message) => {
      if (message === 'How much?') return { action: 'accept', content: { price: 'much' } }
      return { action: 'decline' }
    })
    const run = await callTool(client, await named(client, 'Ask first'))
    expect(run).toMatchObject({ status: 'paused', pauses: [{ stepId: 'ask' }] })

    const { resumeRun } = await import('@/server/runs/resume')
    const { asked, client: other } = await person(async (message) => {
      const [{ runId } = { runId: '' }] = await runtime.db.execute<{ runId: string }>(
        `select id as "runId" from runs where status = 'paused' order by start_time desc limit 1` as never,
      )
      const body = { type: 'request_user_action', actionId: 'reject' }
      if (message === 'May it be bought?') await resumeRun(owner, { runId, body })
      // Never answers in time.
      return message === 'How much?' ? fills(message) : new Promise(() => {})
    })
    const done = await callTool(other, await named(other, 'Ask first'))
    expect([asked.length, done.result]).toEqual([2, { price: 3, decision: 'reject' }])
  })

  test('gets no questions that the credential may not answer', async () => {
    const { client, asked } = await person(fills)
    expect(await callTool(client, await named(client, 'Ask an admin'))).toMatchObject({ status: 'paused' })
    expect(asked).toEqual([])
  })
})

test('while a question is open and notifications arrive, the database is hardly asked for it', async () => {
  const { isListening } = await import('@/server/interpreter/notice/heard')
  const { askFor } = await import('@/server/mcp/ask')
  const run = await callTool(clients[1] as Client, await named(clients[1] as Client, 'Ask first'))
  await expect.poll(isListening).toBe(true)
  let statements = 0
  const db = new Proxy(owner.db, {
    get(of, name) {
      if (name === 'select') statements += 1
      return Reflect.get(of, name)
    },
  })
  const left = new AbortController()
  let asked: (so: number) => void = () => {}
  const sent = new Promise<number>((resolve) => {
    asked = resolve
  })
  const asking = askFor({ ...owner, db }, run.runId, left.signal, () => () => asked(statements))
  const before = await sent
  // Three polls of a process that gets no notifications.
  await sleep(3_500)
  const during = statements - before
  left.abort()
  await asking
  expect(during).toBe(1)
})

describe('over HTTP', () => {
  const post = (message: object, more: Record<string, string> = {}) =>
    fetch(server.url, {
      method: 'POST',
      headers: { ...key, 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...more },
      body: JSON.stringify({ jsonrpc: '2.0', ...message }),
    })
  const hello = (capabilities: object) =>
    post({
      ...{ id: 1, method: 'initialize' },
      params: { protocolVersion: '2025-06-18', capabilities, clientInfo: { name: 'by hand', version: '1' } },
    })

  test('only a session of a client that has forms is asked, and any process may take the answer', async () => {
    for (const capabilities of [{}, { elicitation: { url: {} } }])
      expect((await hello(capabilities)).headers.get('mcp-session-id')).toBeNull()
    const session = (await hello({ elicitation: {} })).headers.get('mcp-session-id') ?? ''
    const tool = await named(clients[0] as Client, 'Ask first')
    const call = { id: 7, method: 'tools/call', params: { name: tool, arguments: {} } }
    expect((await post(call)).headers.get('content-type')).toContain('application/json')
    const plain = await post(call, { 'mcp-session-id': session, accept: 'application/json' })
    expect(plain.headers.get('content-type')).toContain('application/json')

    const streamed = await post(call, { 'mcp-session-id': session })
    expect(streamed.headers.get('content-type')).toContain('text/event-stream')
    const seen: { id: unknown; method?: string; result?: { structuredContent: { status: string } } }[] = []
    let rest = ''
    for await (const chunk of streamed.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      rest += chunk
      for (let end = rest.indexOf('\n\n'); end !== -1; end = rest.indexOf('\n\n')) {
        const message = JSON.parse(rest.slice(rest.indexOf('data: ') + 6, end))
        rest = rest.slice(end + 2)
        seen.push(message)
        if (message.method !== 'elicitation/create') continue
        // The question is no longer in memory, as in another process.
        const { processWide } = await import('@/db/process-wide')
        processWide('mcp.questions', () => new Map()).clear()
        const answered = await post({ id: message.id, result: fills(message.params.message) })
        expect(answered.status).toBe(202)
      }
    }
    expect(seen.map(({ method }) => method ?? 'result')).toEqual(['elicitation/create', 'elicitation/create', 'result'])
    expect(seen.at(-1)).toMatchObject({ id: 7, result: { structuredContent: { status: 'completed' } } })
  })

  test('each call that asks is one of its workspace’s open streams; without a place for it, nothing is asked', async () => {
    const { env } = await import('@/server/env')
    const { reserveStream } = await import('@/server/http/open-streams')
    const session = (await hello({ elicitation: {} })).headers.get('mcp-session-id') ?? ''
    const tool = await named(clients[0] as Client, 'Ask first')
    const call = () =>
      post({ id: 8, method: 'tools/call', params: { name: tool, arguments: {} } }, { 'mcp-session-id': session })
    const asks = (response: Response) => response.headers.get('content-type')?.includes('event-stream') === true
    const others = Array.from({ length: env().STREAMS_PER_TENANT - 2 }, () => reserveStream(owner.tenantId))
    try {
      const [one, two] = [await call(), await call()]
      const three = await call()
      expect([one, two, three].map(asks)).toEqual([true, true, false])
      expect(await three.json()).toMatchObject({ id: 8, result: { structuredContent: { status: 'paused' } } })
      expect(() => reserveStream(owner.tenantId)).toThrow(/too many open event streams/i)
      // A caller that leaves frees its place.
      await one.body?.cancel()
      await expect.poll(async () => asks(await call())).toBe(true)
      await two.body?.cancel()
    } finally {
      for (const leave of others) leave()
    }
  })

  test('an answer has the rights of the credential that it comes with', async () => {
    const { createApiKey } = await import('@/server/credentials/api-keys/create')
    const viewer = { 'x-api-key': (await createApiKey(owner, { name: 'viewer', role: 'viewer' })).key }
    const run = await callTool(clients[1] as Client, await named(clients[1] as Client, 'Ask first'))
    const id = `ask/${crypto.randomUUID()}/collect_inputs/${run.runId}/${run.pauses[0].id}`
    expect((await post({ id, result: fills('How much?') }, viewer)).status).toBe(202)
    const { getRunStatus } = await import('@/server/runs/status')
    expect(await getRunStatus(owner, { runId: run.runId })).toMatchObject({ status: 'paused', data: {} })
  })
})

test('a form of the protocol has plain values only, and never asks for a secret', () => {
  const pause = (fields: object) => ({ type: 'collect_inputs', stepId: 'ask', fields }) as unknown as PauseSignal
  expect(questionOf(pause({ pin: { type: 'string', secret: true } }))).toBeNull()
  expect(questionOf(pause({ list: { type: 'array' } }))).toBeNull()
  expect(questionOf(pause({ any: { type: 'any', required: false } }))).toBeNull()
  expect(
    questionOf(pause({ a: { type: 'integer', default: 3, label: 'Age' }, b: { type: 'file', required: false } })),
  ).toMatchObject({
    requestedSchema: { properties: { a: { type: 'integer', default: 3, title: 'Age' } }, required: [] },
  })
})

test('a question shows the same as the task', () => {
  const pause: PauseSignal = {
    ...{ type: 'request_user_action', stepId: 'ok', actions, title: 'May it be bought?', message: 'Please **look**.' },
    show: [
      { label: 'Total', value: 12.5 },
      { label: 'Urgent', value: true },
      { label: 'Tags', value: ['a', 'b'] },
      { label: 'Address', value: { city: 'Lagos' } },
      { label: 'Notes', value: null },
    ],
  }
  expect(questionOf(pause)?.message).toBe(
    'May it be bought?\n\nPlease **look**.\n\nTotal: 12.5\nUrgent: Yes\nTags: a, b\nAddress: {"city":"Lagos"}\nNotes: –',
  )
})

describe('a decision whose actions have fields', () => {
  const asked = (fields: object): PauseSignal => ({
    ...{ type: 'request_user_action', stepId: 'decide', remark: 'required' },
    actions: [
      { id: 'approve', label: 'Approve it' },
      { id: 'v1.reject', label: 'Reject it', fields: fields as never },
    ],
  })

  test('is asked with the fields of all actions, and answered with those of the chosen one', () => {
    const question = questionOf(asked({ reason: { type: 'string', label: 'Why' }, n: { type: 'integer' } }))
    expect(question?.requestedSchema).toMatchObject({
      properties: {
        'v1.reject.reason': { type: 'string', title: 'Reject it: Why' },
        'v1.reject.n': { type: 'integer' },
        remark: { type: 'string' },
      },
      required: ['action', 'remark'],
    })
    const content = { action: 'v1.reject', 'v1.reject.reason': 'dear', 'v1.reject.n': 2, remark: 'no' }
    const body = { type: 'request_user_action', pauseId: 'p', remark: 'no' }
    expect(answerTo('request_user_action', 'p', content)).toEqual({
      ...body,
      actionId: 'v1.reject',
      data: { reason: 'dear', n: 2 },
    })
    expect(answerTo('request_user_action', 'p', { ...content, action: 'approve' })).toEqual({
      ...body,
      actionId: 'approve',
      data: {},
    })
  })

  test.each([{ reason: { type: 'string', secret: true } }, { items: { type: 'array' } }])(
    'is not asked for what the protocol cannot ask: %j',
    (fields) => expect(questionOf(asked(fields))).toBeNull(),
  )
})
