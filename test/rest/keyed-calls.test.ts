import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { eq } from 'drizzle-orm'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { idempotencyKeys } from '@/db/schema/idempotency'
import { createAgent } from '@/server/agents/lifecycle'
import { createApiKey } from '@/server/credentials/api-keys/create'
import { createApiListener } from '@/server/rest/listener/create'
import { createTool } from '@/server/tools/lifecycle'
import { type Outside, startOutside } from '../net/outside'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { type ModelServer, startModelServer } from '../support/model'
import { startTestRuntime, type TestRuntime } from '../support/runtime'

let database: FreshDatabase
let runtime: TestRuntime
let service: Server
let base: string
let apiKey: string
let model: ModelServer
let receiver: Outside
/** While set, the receiver delays its answers. */
let gate: Promise<void> | null = null
let open: () => void = () => {}
/** How many calls to the receiver ended before it answered. */
let broken = 0

beforeAll(async () => {
  database = await freshDatabase()
  runtime = await startTestRuntime(database.url, {
    ENCRYPTION_KEY: 'ab'.repeat(32),
    ALLOW_PRIVATE_HOSTS: '127.0.0.1',
  })
  apiKey = (await createApiKey(runtime.ctx, { name: 'test', role: 'owner' })).key
  model = await startModelServer()
  receiver = await startOutside(async (_seen, response) => {
    response.once('close', () => {
      if (!response.writableFinished) broken += 1
    })
    await gate
    response.writeHead(200, { 'content-type': 'application/json' }).end(`{"order":${receiver.seen.length}}`)
  })
  const api = createApiListener({
    '/api/tools/[toolId]/invoke': await import('@/app/api/tools/[toolId]/invoke/route'),
    '/api/agents/[agentId]/invoke': await import('@/app/api/agents/[agentId]/invoke/route'),
    '/api/chat': await import('@/app/api/chat/route'),
  })
  service = createServer((request, response) => void api(request, response))
  await once(service.listen(0, '127.0.0.1'), 'listening')
  base = `http://127.0.0.1:${(service.address() as AddressInfo).port}`
})
afterEach(() => {
  open()
  gate = null
  receiver.seen.length = 0
  broken = 0
})
afterAll(async () => {
  service?.closeAllConnections()
  service?.close()
  await receiver?.stop()
  await model?.close()
  await runtime?.stop()
  await database?.close()
})

function hold(): void {
  gate = new Promise((resolve) => {
    open = resolve
  })
}

interface Sent {
  path: string
  body: object
  accept?: string
  headers?: Record<string, string>
}

async function send({ path, body, accept = 'application/json', headers }: Sent, key: string, signal?: AbortSignal) {
  const response = await fetch(`${base}${path}`, {
    method: 'POST',
    headers: { 'x-api-key': apiKey, 'content-type': 'application/json', 'idempotency-key': key, accept, ...headers },
    body: JSON.stringify(body),
    ...(signal ? { signal } : {}),
  })
  const text = await response.text()
  return { status: response.status, text, replayed: response.headers.get('idempotent-replayed') }
}

/** Sends a request, and hangs up once `begun` is true. */
async function hangUp(sent: Sent, key: string, begun: () => boolean): Promise<void> {
  const caller = new AbortController()
  const lost = send(sent, key, caller.signal).then(
    () => 'answered',
    () => 'hung up',
  )
  await expect.poll(begun, { timeout: 60_000, interval: 10 }).toBe(true)
  caller.abort()
  expect(await lost).toBe('hung up')
}

const rowOf = async (key: string) =>
  (await database.db.select().from(idempotencyKeys).where(eq(idempotencyKeys.key, key)))[0]
const kept = (key: string) => expect.poll(async () => (await rowOf(key))?.state, { timeout: 60_000 }).toBe('done')
const keysSent = () => receiver.seen.map(({ headers }) => headers['idempotency-key'])

async function httpTool(): Promise<Sent & { toolId: string }> {
  const config = { method: 'POST', url: `${receiver.url}/orders`, body: { item: '${args.item}' } }
  const { id } = await createTool(runtime.ctx, { name: 'Order', kind: 'http', config })
  return { toolId: id, path: `/api/tools/${id}/invoke`, body: { args: { item: 'chair' } } }
}

/** An agent whose model is slow while the gate is closed. */
async function agent(fields: object = {}): Promise<string> {
  const settings = { provider: 'openai-compatible', modelId: 'm', baseUrl: model.url }
  return (await createAgent(runtime.ctx, { name: 'A', instructions: 'x', model: settings, ...fields })).id
}

const outputSchema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] }
const SSE = 'text/event-stream'
const eventsOf = (text: string) =>
  text
    .split('\n\n')
    .filter((block) => block.includes('data: '))
    .map((block) => ({
      event: /^event: (.*)$/m.exec(block)?.[1],
      data: JSON.parse(/^data: (.*)$/m.exec(block)?.[1] ?? ''),
    }))

const idsOf = (text: string) => text.match(/^id: .*$/gm)

describe('a call with an Idempotency-Key whose caller hangs up', () => {
  test('runs its tool to the end, and a repeat gets that answer: one call, with a key', async () => {
    const tool = await httpTool()
    hold()
    await hangUp(tool, 'tool', () => receiver.seen.length === 1)
    const second = send(tool, 'tool')
    open()
    expect(await second).toMatchObject({ status: 200, replayed: 'true' })
    expect(JSON.parse((await second).text)).toMatchObject({ success: true, data: { order: 1 } })
    expect(receiver.seen).toHaveLength(1)
    expect(keysSent()).toEqual([expect.stringMatching(/^[\w-]{20,80}$/)])
  })

  test('without a key ends its tool with it', async () => {
    const { path, body } = await httpTool()
    hold()
    const caller = new AbortController()
    const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' }
    const lost = fetch(`${base}${path}`, { method: 'POST', headers, body: JSON.stringify(body), signal: caller.signal })
    lost.catch(() => {})
    await expect.poll(() => receiver.seen.length, { timeout: 60_000 }).toBe(1)
    expect(keysSent()).toEqual([undefined])
    caller.abort()
    await expect.poll(() => broken, { timeout: 60_000 }).toBe(1)
  })

  test('pays its model once, and a repeat gets that answer', async () => {
    const id = await agent({ outputSchema })
    model.answer(() => ({ text: '{"n":7}', delayMs: 400 }))
    const call = { path: `/api/agents/${id}/invoke`, body: { message: 'x' } }
    await hangUp(call, 'agent', () => model.calls.length === 1)
    await kept('agent')
    const again = await send(call, 'agent')
    expect([again.status, again.replayed, JSON.parse(again.text).data]).toEqual([200, 'true', { n: 7 }])
    expect(model.calls).toHaveLength(1)
  })

  test.each(['application/json', SSE])('has one chat turn as %s, and a repeat gets its answer', async (accept) => {
    const key = `chat ${accept}`
    const call = { path: '/api/chat', body: { agentId: await agent(), message: 'x' }, accept }
    model.answer(() => ({ text: 'It is raining.', delayMs: 400 }))
    await hangUp(call, key, () => model.calls.length === 1)
    const [one, two] = await Promise.all([send(call, key), send(call, key)])
    expect([one.status, one.replayed, two.replayed]).toEqual([200, 'true', 'true'])
    expect(two.text).toBe(one.text)
    expect(one.text).toContain('It is raining.')
    expect(model.calls).toHaveLength(1)
  })
})

describe('a chat stream with an Idempotency-Key', () => {
  test('is repeated event by event, also in the other form, and is one turn', async () => {
    const call = { path: '/api/chat', body: { agentId: await agent(), message: 'x' }, accept: SSE }
    model.script({ text: 'Two chairs.' })
    const first = await send(call, 'stream')
    const again = await send(call, 'stream')
    const done = eventsOf(first.text).at(-1)
    expect(done?.event).toBe('message.done')
    expect([eventsOf(again.text), idsOf(again.text)]).toEqual([eventsOf(first.text), idsOf(first.text)])
    expect([first.replayed, again.replayed]).toEqual([null, 'true'])
    expect(JSON.parse((await send({ ...call, accept: 'application/json' }, 'stream')).text)).toEqual(done?.data)
    expect(model.calls).toHaveLength(1)
  })

  test('of an invocation is likewise, and each form has its own content type', async () => {
    const path = `/api/agents/${await agent({ outputSchema })}/invoke`
    const call = { path, body: { message: 'x' }, accept: SSE }
    model.script({ text: '{"n":7}' }, { text: '{"n":8}' })
    const first = await send(call, 'data')
    const again = await send(call, 'data')
    const done = eventsOf(first.text).at(-1)
    expect([done?.event, done?.data.data]).toEqual(['answer.done', { n: 7 }])
    expect([eventsOf(again.text), idsOf(again.text)]).toEqual([eventsOf(first.text), idsOf(first.text)])
    expect([first.replayed, again.replayed]).toEqual([null, 'true'])
    const json = { path, body: { message: 'x' }, accept: 'application/json' }
    expect(JSON.parse((await send(json, 'data')).text)).toEqual(done?.data)
    expect(JSON.parse((await send(json, 'other')).text).data).toEqual({ n: 8 })
    expect(model.calls).toHaveLength(2)
  })

  test('that failed is not kept: a repeat asks again', async () => {
    const call = { path: '/api/chat', body: { agentId: await agent(), message: 'x' }, accept: SSE }
    model.script({ status: 400 }, { text: 'Better.' })
    expect(eventsOf((await send(call, 'failed')).text).map(({ event }) => event)).toEqual(['error'])
    expect((await send(call, 'failed')).text).toContain('Better.')
  })

  test('continues where it broke off, with the same key', async () => {
    const call = { path: '/api/chat', body: { agentId: await agent(), message: 'x' }, accept: SSE }
    model.script({ text: 'one two three' })
    const whole = (await send(call, 'resumed')).text
    const [, firstId = ''] = /^id: (.*)$/m.exec(whole) ?? []
    const rest = await send({ ...call, headers: { 'last-event-id': firstId } }, 'resumed')
    expect(eventsOf(rest.text)).toEqual(eventsOf(whole).slice(1))
  })
})

describe('the key that a call sends on', () => {
  test('is the same after the process died, and the repeat does not wait forever', async () => {
    const tool = await httpTool()
    hold()
    const dead = send(tool, 'died').catch(() => null)
    await expect.poll(() => receiver.seen.length, { timeout: 60_000 }).toBe(1)
    // The process that holds the key has died: its lease ends, and nobody completes it.
    await database.sql`
      update idempotency_keys set owner = 'a process that died', leased_until = now() - interval '1 second' where key = 'died'`
    open()
    expect((await send(tool, 'died')).status).toBe(200)
    expect(keysSent()).toHaveLength(2)
    expect(new Set(keysSent()).size).toBe(1)
    await dead
  })

  test('differs for another key, another body and another credential', async () => {
    const tool = await httpTool()
    await send(tool, 'a')
    await send(tool, 'b')
    await send({ ...tool, body: { args: { item: 'table' } } }, 'c')
    const other = (await createApiKey(runtime.ctx, { name: 'other', role: 'owner' })).key
    await send({ ...tool, headers: { 'x-api-key': other } }, 'a')
    expect(new Set(keysSent()).size).toBe(4)
  })

  test('is the tool’s own where it has one', async () => {
    const headers = { 'Idempotency-Key': 'mine' }
    const config = { method: 'POST', url: receiver.url, headers }
    const { id } = await createTool(runtime.ctx, { name: 'Order', kind: 'http', config })
    await send({ path: `/api/tools/${id}/invoke`, body: {} }, 'own')
    expect(keysSent()).toEqual(['mine'])
  })

  test('is another for each call of a script that changes something, and the same when it runs again', async () => {
    const code = `
      const post = (path, body) => fetch(args.url + path, { method: 'POST', body })
      await fetch(args.url + '/read')
      await Promise.all([post('/a', '1'), post('/a', '2'), post('/a', '1'), post('/b', '1')])`
    const config = { code, allowedHosts: [`127.0.0.1:${receiver.port}`] }
    const { id } = await createTool(runtime.ctx, { name: 'Script', kind: 'script', config })
    const call = { path: `/api/tools/${id}/invoke`, body: { args: { url: receiver.url } } }
    const sent = () => receiver.seen.splice(0).map(({ url, body, headers }) => [url, body, headers['idempotency-key']])
    expect(JSON.parse((await send(call, 'script')).text)).toMatchObject({ success: true })
    const first = sent().sort()
    expect(first).toHaveLength(5)
    expect(first.find(([url]) => url === '/read')?.[2]).toBeUndefined()
    expect(new Set(first.map(([, , key]) => key)).size).toBe(5)
    // As if the first had died before its answer was stored.
    await database.db.delete(idempotencyKeys).where(eq(idempotencyKeys.key, 'script'))
    await send(call, 'script')
    expect(sent().sort()).toEqual(first)
  })
})
