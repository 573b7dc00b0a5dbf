import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { JsonObject } from '@/server/definition/json'
import type { EventSource, ServerSentEvent } from '@/server/http/sse'
import { answerApprovals } from '@/server/talk/approve'
import { openChat } from '@/server/talk/chat'
import { invokeAgent, openInvocation } from '@/server/talk/invoke'
import { setVaultSecret } from '@/server/vault/set'
import { Approving, answer } from '../agents/approving'
import { history, newAgent } from '../agents/support'
import { keyed } from '../support/keyed'
import { outcome } from '../workflows/support'

const at = new Approving()
const never = new AbortController().signal
const ORDER = { item: 'chairs', amount: 12 }

type Event = ServerSentEvent & { data: JsonObject }

const open = (agentId: string, { ctx = at.runtime.ctx, lastEventId = null as string | null, body = {} } = {}) =>
  openInvocation(ctx, { agentId, body: { message: 'x', ...body }, lastEventId }, never)

async function read(source: EventSource | null, until = (_event: Event) => false): Promise<Event[]> {
  const events: Event[] = []
  for await (const event of source?.(never) ?? []) {
    events.push(event as Event)
    if (until(event as Event)) break
  }
  return events
}
const names = (events: Event[]) => events.map(({ event }) => event)
const last = (events: Event[]) => events.at(-1) as Event

/** A model over HTTP that says each answer in pieces, slowly. */
const slow = {
  url: '',
  /** Of each answer: texts, and calls of tools at its end. */
  pieces: [] as (string | object[])[][],
  async say(response: ServerResponse) {
    const pieces = slow.pieces.shift() ?? []
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const send = (choice: object) =>
      response.write(`data: ${JSON.stringify({ id: 'r', object: 'chat.completion.chunk', model: 'm', ...choice })}\n\n`)
    for (const piece of pieces) {
      const delta = typeof piece === 'string' ? { content: piece } : { tool_calls: piece }
      send({ choices: [{ index: 0, delta, finish_reason: null }] })
      await sleep(250)
    }
    const finish = typeof pieces.at(-1) === 'string' ? 'stop' : 'tool_calls'
    send({ choices: [{ index: 0, delta: {}, finish_reason: finish }] })
    send({ choices: [], usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } })
    response.end('data: [DONE]\n\n')
  },
}
const server = createServer((request, response) => {
  request.resume().on('end', () => void slow.say(response))
})
beforeAll(async () => {
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  slow.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
})
afterAll(() => void server.close())

const slowAgent = async (fields = {}) => (await newAgent(at.runtime.ctx, fields, slow as never)).id

test('the data of a stream grows to the answer, whose event is the body that JSON has', async () => {
  const agentId = await slowAgent()
  slow.pieces = [['{"item":', '"chai', 'rs",', '"amount":12', '}']]
  const events = await read(await open(agentId))
  const partials = events.flatMap(({ event, data }) => (event === 'answer.partial' ? [data] : []))
  expect(partials).toEqual([{}, { item: 'chai' }, { item: 'chairs' }, ORDER].map((data) => ({ data })))
  expect(names(events)).toEqual([...partials.map(() => 'answer.partial'), 'answer.done'])
  at.model.script(answer)
  const { id } = await newAgent(at.runtime.ctx, {}, at.model)
  const body = await invokeAgent(at.runtime.ctx, { agentId: id, body: { message: 'x' } }, never)
  const { threadId } = last(events).data
  expect(JSON.stringify(last(events).data)).toBe(JSON.stringify({ ...body, threadId }))
  expect(await history(at.runtime.ctx, String(threadId))).toHaveLength(2)
})

test('an answer that is repaired begins anew', async () => {
  const agentId = await slowAgent()
  slow.pieces = [
    ['{"item":7', '}'],
    ['{"item":"chairs",', '"amount":12}'],
  ]
  const events = await read(await open(agentId))
  expect(events.map(({ event, data }) => (event === 'answer.done' ? data.metadata : { event, ...data }))).toMatchObject(
    [
      { event: 'answer.partial', data: { item: 7 } },
      { event: 'answer.restart', agentId },
      { event: 'answer.partial', data: { item: 'chairs' } },
      { event: 'answer.partial', data: ORDER },
      { repaired: true },
    ],
  )
})

test('resumed anywhere, a stream has the same last event, and no event twice', async () => {
  const agentId = await slowAgent()
  slow.pieces = [['{"item":', '"chairs",', '"amount":12', '}']]
  const first = await read(await open(agentId), ({ data }) => (data.data as JsonObject)?.item !== undefined)
  const rest = await read(await open(agentId, { lastEventId: last(first).id ?? '' }))
  expect(names(rest)).toEqual(['answer.partial', 'answer.done'])
  for (const { id = '' } of [...first, ...rest.slice(0, -1)])
    expect(last(await read(await open(agentId, { lastEventId: id })))).toEqual(last(rest))
  expect(new Set([...first, ...rest].map(({ id }) => id)).size).toBe(first.length + rest.length)
  const end = last(rest).id ?? ''
  expect(await open(agentId, { lastEventId: end })).toBeNull()
  // It is not a chat, and not of another agent.
  const chat = { body: { agentId }, lastEventId: first[0]?.id ?? '' }
  expect(await outcome(openChat(at.runtime.ctx, chat, never))).toBe('INVALID_INPUT')
  expect(await outcome(open(await slowAgent(), { lastEventId: end }))).toBe('THREAD_NOT_FOUND')
  expect(await outcome(open(agentId, { lastEventId: 'x' }))).toBe('INVALID_INPUT')
})

test('a stream shows calls, and ends where people are asked; resumed, it has the answer', async () => {
  const tools = [{ toolId: at.refund, version: 'latest', approval: 'always' }]
  const { id: agentId } = await newAgent(at.runtime.ctx, { tools }, at.model)
  at.model.script({ calls: [at.wish(240)] }, answer)
  const first = await read(await open(agentId))
  expect(names(first)).toEqual(['tool.call', 'approval.requested', 'answer.waiting'])
  const { threadId } = last(first).data
  expect(last(first).data).toEqual(await sameAsJson(last(first).data))
  const lastEventId = last(first).id ?? ''
  expect(await open(agentId, { lastEventId })).toBeNull()
  const approvals = [{ approvalId: String(first[1]?.data.approvalId), approved: true }]
  const place = { agentId, threadId: String(threadId) }
  const answered = await answerApprovals(at.runtime.ctx, { ...place, body: { approvals } }, never)
  const second = await read(await open(agentId, { lastEventId }))
  expect(second).toMatchObject([{ event: 'answer.done', data: { data: ORDER, threadId } }])
  expect(last(second).data).toEqual(JSON.parse(JSON.stringify(answered)))

  /** What a request for JSON gets of a turn like this, with its ids and times. */
  async function sameAsJson({ threadId, turnId, runId, pauseSignals }: JsonObject): Promise<JsonObject> {
    at.model.script({ calls: [at.wish(240)] }, answer)
    const body = (await invokeAgent(at.runtime.ctx, { agentId, body: { message: 'x' } }, never)) as never as JsonObject
    at.model.script(answer)
    const [{ createdAt, expiresAt } = {}] = pauseSignals as JsonObject[]
    const asked = (body.pauseSignals as JsonObject[]).map((one) => ({ ...one, createdAt, expiresAt }))
    return { ...body, threadId, turnId, runId, pauseSignals: asked, pauseSignal: asked[0] } as JsonObject
  }
})

test.each([1, 3, 100_000])('the data so far has no key that the model reveals in pieces of %i', async (pieces) => {
  const key = 'planted-key-0123456789'
  await setVaultSecret(at.runtime.ctx, { name: 'LLM', value: key })
  const model = { provider: 'openai-compatible', modelId: 'm', baseUrl: at.model.url, apiKey: '${secrets.LLM}' }
  const { id: agentId } = await newAgent(at.runtime.ctx, { model })
  at.model.answer(({ authorization }) => ({ text: JSON.stringify({ item: `${authorization}.`, amount: 1 }), pieces }))
  const events = await read(await open(agentId))
  expect(names(events)).toContain('answer.partial')
  expect(last(events).data.data).toEqual({ item: 'Bearer ***.', amount: 1 })
  expect(JSON.stringify(events)).not.toContain(key)
})

test('a stream that fails ends with an error, and the thread stays as it was', async () => {
  const { id: agentId } = await newAgent(at.runtime.ctx, {}, at.model)
  at.model.script(answer, { status: 400 }, answer)
  const { threadId } = last(await read(await open(agentId))).data
  const events = await read(await open(agentId, { body: { threadId } }))
  expect(events).toMatchObject([{ event: 'error', data: { code: 'MODEL_ERROR', threadId } }])
  expect(await history(at.runtime.ctx, String(threadId))).toHaveLength(2)
  expect(last(await read(await open(agentId, { body: { threadId } })))).toMatchObject({ event: 'answer.done' })
  expect(await outcome(open('agt_no'))).toBe('AGENT_NOT_FOUND')
  expect(await outcome(open(agentId, { body: { message: '' } }))).toBe('MESSAGE_REQUIRED')
})

test('calls show as in a chat, and data that the model said before them no longer counts', async () => {
  const agentId = await slowAgent({ tools: [at.refund] })
  const args = { amount: 40, orderId: 'A1' }
  const call = { name: at.refund, arguments: JSON.stringify(args) }
  slow.pieces = [
    ['{"item":"ch', [{ index: 0, id: 'c1', type: 'function', function: call }]],
    ['{"item":"chairs",', '"amount":12}'],
  ]
  const events = await read(await open(agentId))
  const [before, after] = [
    ['answer.partial', 'answer.restart'],
    ['answer.partial', 'answer.partial', 'answer.done'],
  ]
  expect(names(events)).toEqual([...before, 'tool.call', 'tool.result', ...after])
  expect(events[2]?.data).toMatchObject({ agentId, toolId: at.refund, args })
  expect(last(events).data).toMatchObject({ data: ORDER, metadata: { rounds: 1, toolCalls: 1 } })
})

test('a caller that leaves ends the turn of JSON, but not that of a stream', async () => {
  const agentId = await slowAgent()
  slow.pieces = [['{"item":', '"chairs",', '"amount":12', '}']]
  const [first] = await read(await open(agentId), () => true)
  const threadId = first?.id?.split('.')[0] ?? ''
  await expect.poll(() => history(at.runtime.ctx, threadId), { timeout: 5_000 }).toHaveLength(2)
  const caller = new AbortController()
  slow.pieces = [['{"item":', '"chairs",', '"amount":12', '}']]
  const asked = invokeAgent(at.runtime.ctx, { agentId, body: { message: 'x', threadId } }, caller.signal)
  setTimeout(() => caller.abort(), 300)
  await expect(asked).rejects.toThrow()
  expect(await history(at.runtime.ctx, threadId)).toHaveLength(2)
})

test('a stream whose process died has its answer from a run, and drops the data so far', async () => {
  const { id: agentId } = await newAgent(at.runtime.ctx, { tools: [at.refund] }, at.model)
  const wish = { name: at.refund, args: { amount: 40, orderId: 'A1' } }
  at.model.script({ calls: [wish] }, { hang: true }, answer)
  const seen = await read(await open(agentId), ({ event }) => event === 'tool.result')
  await expect.poll(() => at.model.calls.length).toBe(2)
  const past = new Date(Date.now() - 1_000)
  const [threadId = '', ticket = ''] = last(seen).id?.split('.') ?? []
  const { sql } = at.database
  await sql`update agent_turns set leased_until = ${past} where leased_until is not null`
  await sql`update thread_turns set leased_until = ${past}`
  await sql`insert into chat_events (tenant_id, thread_id, ticket, seq, event, data)
    values (${at.runtime.ctx.tenantId}, ${threadId}, ${Number(ticket)}, 3, 'answer.partial', '{"data":{"item":"chai"}}')`
  const rest = await read(await open(agentId, { lastEventId: last(seen).id ?? '' }))
  expect(names(rest)).toEqual(['answer.partial', 'answer.restart', 'answer.done'])
  expect(last(rest).data.data).toEqual(ORDER)
})

test('a stream with an Idempotency-Key that is repeated has the same end', async () => {
  const { id: agentId } = await newAgent(at.runtime.ctx, {}, at.model)
  at.model.script(answer)
  const ctx = { ...at.runtime.ctx, keyed: keyed('k1') }
  const first = await read(await open(agentId, { ctx }))
  const again = await read(await open(agentId, { ctx }))
  expect(again).toEqual(first)
  expect(at.model.calls).toHaveLength(1)
})
