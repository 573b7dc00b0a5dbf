import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Answer, type Api, startApi } from '../support/api'
import { type ModelServer, startModelServer } from '../support/model'

let api: Api
let model: ModelServer
let agentId: string
const PLANTED = 'planted-key-5f2c9a7e'
const SCHEMA = {
  type: 'object',
  properties: { item: { type: 'string' }, amount: { type: 'number' } },
  required: ['item', 'amount'],
}
const ORDER = { text: '{"item":"chairs","amount":12}' }

beforeAll(async () => {
  model = await startModelServer()
  api = await startApi({ ALLOW_PRIVATE_HOSTS: '127.0.0.1', AGENT_TIMEOUT_MS: '4000', OPENAI_API_KEY: PLANTED })
  agentId = await newAgent()
})
afterAll(async () => {
  await api?.stop()
  await model?.close()
})

async function newAgent(fields: object = {}): Promise<string> {
  const { status, body } = await api.call('POST', '/api/agents', {
    name: 'Orders',
    model: { provider: 'openai-compatible', modelId: 'm', baseUrl: model.url },
    outputSchema: SCHEMA,
    ...fields,
  })
  expect(status).toBe(201)
  return body.id
}

const invoke = (id: string, body: unknown, options = {}) => api.call('POST', `/api/agents/${id}/invoke`, body, options)
const errorOf = ({ status, body }: Answer) => [status, body.success, body.error.message, body.error.code]

describe('POST /api/agents/:agentId/invoke', () => {
  test('answers with data and a thread that can be continued', async () => {
    model.script(ORDER, ORDER)
    const first = await invoke(agentId, { message: '12 chairs', dataContext: { vip: true }, version: '1' })
    expect([first.status, first.body.data]).toEqual([200, { item: 'chairs', amount: 12 }])
    const { threadId } = first.body
    const second = await invoke(agentId, { message: 'again', threadId })
    expect([second.status, second.body.threadId]).toEqual([200, threadId])
    expect(model.calls[1]?.body.messages).toHaveLength(4)
  })

  test('each refusal has the documented message, in the documented order of checks', async () => {
    const talker = await newAgent({ outputSchema: null })
    const boss = await newAgent({ supervisor: true })
    expect(errorOf(await invoke(agentId, {}, { headers: { 'x-api-key': 'sk_wrong' } }))).toEqual([
      401,
      false,
      'Invalid or disabled API key',
      'UNAUTHORIZED',
    ])
    for (const message of [undefined, null, '', 7, {}]) {
      expect(errorOf(await invoke('agt_unknown', { message }))).toEqual([
        400,
        false,
        'message is required',
        'MESSAGE_REQUIRED',
      ])
    }
    const notFound = [404, false, 'Agent not found', 'AGENT_NOT_FOUND']
    expect(errorOf(await invoke('agt_unknown', { message: 'x' }))).toEqual(notFound)
    expect(errorOf(await invoke(agentId, { message: 'x', version: 99 }))).toEqual(notFound)
    expect(errorOf(await invoke(agentId, { message: 'x', version: 'published' }))).toEqual(notFound)
    expect(errorOf(await invoke(talker, { message: 'x' }))).toEqual([
      400,
      false,
      'Agent does not have structured output',
      'AGENT_NO_STRUCTURED_OUTPUT',
    ])
    expect(errorOf(await invoke(boss, { message: 'x', threadId: 'thr_x' }))).toEqual([
      400,
      false,
      'Supervisor agents cannot be invoked',
      'AGENT_SUPERVISOR',
    ])
    expect(errorOf(await invoke(agentId, { message: 'x', threadId: 'thr_x' }))).toEqual([
      404,
      false,
      'Thread not found',
      'THREAD_NOT_FOUND',
    ])
  })

  test('a failing provider is named, without its message or the keys', async () => {
    model.script({ status: 401, body: `{"error":{"message":"bad key ${PLANTED}"}}` })
    const failed = await invoke(agentId, { message: 'x' })
    expect(failed.status).toBe(500)
    expect(failed.body.error).toMatchObject({ code: 'MODEL_ERROR', details: [{ provider: 'openai-compatible' }] })
    expect(failed.body.error.message).toMatch(/^Internal server error/)
    expect(JSON.stringify(failed.body) + api.logs()).not.toContain(PLANTED)
    // The installation's key must never go to an address that a user chose.
    expect(model.calls[0]?.authorization).toBeUndefined()
  })

  test('an answer that never matches the schema is rejected entirely', async () => {
    model.script({ text: '{"item":1}' }, { text: 'sorry' })
    const { status, body } = await invoke(agentId, { message: 'x' })
    expect([status, body.error.code, body.data]).toEqual([500, 'OUTPUT_SCHEMA_MISMATCH', undefined])
    expect(body.error.details[0].path).toBe('data')
  })

  test('two simultaneous messages to one thread are both answered', async () => {
    model.answer(() => ({ ...ORDER, delayMs: 100 }))
    const { threadId } = (await invoke(agentId, { message: 'x' })).body
    const both = await Promise.all(['a', 'b'].map((message) => invoke(agentId, { message, threadId })))
    expect(both.map(({ status }) => status)).toEqual([200, 200])
    expect(model.calls.map(({ body }) => body.messages.length)).toEqual([2, 4, 6])
  })

  test('a caller that disconnects frees the model and the thread', async () => {
    model.script(ORDER)
    const { threadId } = (await invoke(agentId, { message: 'x' })).body
    model.script({ hang: true }, ORDER)
    const caller = new AbortController()
    const gone = invoke(agentId, { message: 'y', threadId }, { signal: caller.signal }).catch(() => 'gone')
    while (model.calls.length === 0) await sleep(10)
    caller.abort()
    expect(await gone).toBe('gone')
    await expect.poll(() => model.calls[0]?.aborted).toBe(true)
    const started = performance.now()
    expect((await invoke(agentId, { message: 'z', threadId })).status).toBe(200)
    // A thread that is not released passes to another turn after fifteen seconds.
    expect(performance.now() - started).toBeLessThan(10_000)
  })

  test('with an Idempotency-Key the model is called once', async () => {
    model.script(ORDER)
    const headers = { 'idempotency-key': 'once' }
    const first = await invoke(agentId, { message: 'x' }, { headers })
    const second = await invoke(agentId, { message: 'x' }, { headers })
    expect([second.status, second.body]).toEqual([200, first.body])
    expect(model.calls).toHaveLength(1)
  })
})

describe('GET /api/agents/:agentId/schema', () => {
  test('returns the schema of a version', async () => {
    const { status, body } = await api.call('GET', `/api/agents/${agentId}/schema?version=1`)
    expect([status, body]).toEqual([200, { agentId, name: 'Orders', outputSchema: SCHEMA }])
    for (const version of ['9', 'published', 'x', '']) {
      const missing = await api.call('GET', `/api/agents/${agentId}/schema?version=${version}`)
      expect(errorOf(missing)).toEqual([404, false, 'Agent not found', 'AGENT_NOT_FOUND'])
    }
  })
})

describe('POST /api/chat', () => {
  /** Reads events until `count` have arrived or the stream ends. */
  async function stream(body: object, headers: Record<string, string> = {}, count = 100) {
    const response = await fetch(`${api.url}/api/chat`, {
      method: 'POST',
      headers: { 'x-api-key': api.apiKey, 'content-type': 'application/json', accept: 'text/event-stream', ...headers },
      body: JSON.stringify(body),
    })
    const events: { id: string; event: string; data: Record<string, unknown> }[] = []
    let text = ''
    const decoder = new TextDecoder()
    for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
      text += decoder.decode(chunk, { stream: true })
      for (let end = text.indexOf('\n\n'); end !== -1; end = text.indexOf('\n\n')) {
        const [, id, event, data] = /^id: (.*)\nevent: (.*)\ndata: (.*)$/.exec(text.slice(0, end)) ?? []
        if (id && event && data) events.push({ id, event, data: JSON.parse(data) })
        text = text.slice(end + 2)
      }
      if (events.length >= count) break
    }
    return { response, events }
  }

  test('streams a supervisor’s hand-off, and resumes after a broken connection', async () => {
    const boss = await newAgent({ name: 'Boss', supervisor: true, outputSchema: null, handoffs: [agentId] })
    model.script({ calls: [{ name: `handoff_${agentId}`, args: { message: '12 chairs' } }] }, ORDER, {
      text: 'Twelve chairs.',
      delayMs: 500,
    })
    const body = { agentId: boss, message: '12 chairs' }
    const first = await stream(body, {}, 2)
    expect(first.response.headers.get('content-type')).toContain('text/event-stream')
    expect(first.events.map(({ event }) => event)).toEqual(['tool.call', 'handoff'])
    const rest = await stream(body, { 'last-event-id': first.events[1]?.id ?? '' })
    expect(rest.events.map(({ event }) => event)).toEqual([
      'tool.result',
      'message.delta',
      'message.delta',
      'message.done',
    ])
    const done = rest.events.at(-1)
    expect(done?.data).toMatchObject({
      message: 'Twelve chairs.',
      threadId: expect.any(String),
      usage: { totalTokens: 45 },
    })
    const over = await stream(body, { 'last-event-id': done?.id ?? '' })
    expect(over.response.status).toBe(204)
    expect(model.calls).toHaveLength(3)
  })

  test('returns a single JSON answer on request, and continues the thread', async () => {
    const talker = await newAgent({ outputSchema: null })
    model.script({ text: 'Hello.' }, { text: 'Again.' })
    const headers = { accept: 'application/json' }
    const first = await api.call('POST', '/api/chat', { agentId: talker, message: 'hi' }, { headers })
    expect([first.status, first.body.message, first.body.usage.totalTokens]).toEqual([200, 'Hello.', 15])
    const { threadId } = first.body
    const second = await api.call('POST', '/api/chat', { agentId: talker, message: 'and', threadId }, { headers })
    expect(second.body).toMatchObject({ message: 'Again.', threadId })
  })

  test('refuses with an HTTP status, not an event', async () => {
    const post = (body: object) => api.call('POST', '/api/chat', body)
    expect(errorOf(await post({ agentId }))).toEqual([400, false, 'message is required', 'MESSAGE_REQUIRED'])
    expect(errorOf(await post({ agentId: 'agt_x', message: 'x' }))).toEqual([
      404,
      false,
      'Agent not found',
      'AGENT_NOT_FOUND',
    ])
    expect((await post({ message: 'x' })).status).toBe(400)
  })
})

describe('the samples', () => {
  test('work without a model key', async () => {
    const text = 'My sales invoice is wrong, urgent! ada@example.com'
    const agent = await invoke('agt_extract', { message: text, version: 'published' })
    expect([agent.status, agent.body.metadata.provider]).toEqual([200, 'scripted'])
    const summary = 'My sales invoice is wrong, urgent!'
    const ticket = { summary, category: 'sales', urgent: true, email: 'ada@example.com' }
    expect(agent.body.data).toEqual(ticket)
    const run = await api.call('POST', '/api/workflow/start/wf_agent_triage', { text })
    expect([run.status, run.body.result]).toEqual([
      200,
      { ticket, team: 'on-call', all: { text, ticket, team: 'on-call' } },
    ])
    const headers = { accept: 'application/json' }
    const chat = await api.call('POST', '/api/chat', { agentId: 'agt_supervisor', message: text }, { headers })
    // In a chat it introduces itself and reports its findings.
    expect(chat.body.message).toMatch(/^The offline model found this.*category: sales\nurgent: true/s)
    expect(errorOf(await invoke('agt_supervisor', { message: 'x' }))[0]).toBe(400)
  })
})

describe('management', () => {
  test('saves, publishes, archives and lists over HTTP, with ETags', async () => {
    const made = await api.call('POST', '/api/agents', { name: 'Helper' })
    expect([made.status, made.headers.get('etag'), made.headers.get('location')]).toEqual([
      201,
      '"1"',
      `/api/agents/${made.body.id}`,
    ])
    const path = `/api/agents/${made.body.id}`
    const saved = await api.call('PUT', path, { instructions: 'Help.' }, { headers: { 'if-match': '"1"' } })
    expect([saved.status, saved.headers.get('etag')]).toEqual([200, '"2"'])
    const stale = await api.call('PUT', path, { instructions: 'Hinder.' }, { headers: { 'if-match': '"1"' } })
    expect([stale.status, stale.body.error.code]).toEqual([409, 'VERSION_CONFLICT'])
    expect((await api.call('POST', `${path}/publish`)).body).toMatchObject({ status: 'published', publishedVersion: 2 })
    const versions = await api.call('GET', `${path}/versions`)
    expect([versions.headers.get('x-total-count'), versions.body.length]).toEqual(['2', 2])
    expect((await api.call('GET', `${path}/versions/1`)).body).toMatchObject({ version: 1, instructions: '' })
    expect((await api.call('DELETE', path)).body.status).toBe('archived')
    const listed = async (query = '') =>
      (await api.call('GET', `/api/agents${query}`)).body.map(({ id }: { id: string }) => id)
    expect(await listed()).not.toContain(made.body.id)
    expect(await listed('?status=archived')).toContain(made.body.id)
    expect((await api.call('POST', `${path}/unarchive`)).body.status).toBe('draft')
    expect((await api.call('GET', path)).body).toMatchObject({ status: 'draft', instructions: 'Help.' })
  })
})
