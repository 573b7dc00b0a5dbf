import { and, eq } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { chatEvents, threadTurns } from '@/db/schema/threads'
import type { ServiceContext } from '@/server/context'
import type { EventSource, ServerSentEvent } from '@/server/http/sse'
import { openChat } from '@/server/talk/chat'
import { sweepChats } from '@/server/talk/place'
import { stopSandbox } from '@/server/tools/sandbox/run-script'
import { setVaultSecret } from '@/server/vault/set'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { type ModelServer, startModelServer } from '../support/model'
import { chat } from '../support/talk'
import { newScriptTool, newTenant } from '../support/tenant'
import { outcome, refusal } from '../workflows/support'
import { history, newAgent } from './support'

let database: FreshDatabase
let ctx: ServiceContext
let model: ModelServer
const never = new AbortController().signal

beforeAll(async () => {
  Object.assign(process.env, {
    ENCRYPTION_KEY: 'ab'.repeat(32),
    ALLOW_PRIVATE_HOSTS: '127.0.0.1',
    AGENT_TIMEOUT_MS: '20000',
    LOG_LEVEL: 'fatal',
  })
  database = await freshDatabase()
  model = await startModelServer()
})
beforeEach(async () => {
  ctx = await newTenant(database)
})
afterAll(async () => {
  await model.close()
  await stopSandbox()
  await database.close()
})

type Event = ServerSentEvent & { data: Record<string, unknown> }

const open = (body: object, lastEventId: string | null = null, as = ctx) =>
  openChat(as, { body: body as never, lastEventId }, never)

async function read(source: EventSource | null, until = (_event: Event) => false): Promise<Event[]> {
  const events: Event[] = []
  const reader = new AbortController()
  for await (const event of source?.(reader.signal) ?? []) {
    events.push(event as Event)
    if (until(event as Event)) break
  }
  return events
}
const names = (events: Event[]) => events.map(({ event }) => event)
const spoken = (events: Event[]) =>
  events
    .filter(({ event }) => event === 'message.delta')
    .map(({ data }) => data.text)
    .join('')

/** A supervisor with one agent to hand over to, which has a tool. Both use the fake model server. */
async function newTeam() {
  const tool = await newScriptTool(ctx, 'return { item: args.item, amount: 3 }')
  const clerk = await newAgent(ctx, { name: 'Clerk', tools: [tool] }, model)
  const boss = await newAgent(ctx, { name: 'Boss', supervisor: true, outputSchema: null, handoffs: [clerk.id] }, model)
  return { tool, clerk, boss, handOff: `handoff_${clerk.id}` }
}

describe('a chat', () => {
  test('streams text as it arrives, and ends with the thread and its usage', async () => {
    const agent = await newAgent(ctx, { outputSchema: null }, model)
    model.script({ text: 'It is raining.' }, { text: 'Still raining.' })
    const events = await read(await open({ agentId: agent.id, message: 'weather?' }))
    expect(names(events)).toEqual(['message.delta', 'message.delta', 'message.delta', 'message.done'])
    expect(spoken(events)).toBe('It is raining.')
    const done = events.at(-1)?.data
    expect(done).toMatchObject({
      message: 'It is raining.',
      threadId: expect.stringMatching(/^thr_/),
      usage: { inputTokens: 10, outputTokens: 5, totalTokens: 15 },
    })
    const more = await read(await open({ agentId: agent.id, message: 'now?', threadId: done?.threadId }))
    expect(more.at(-1)?.data.threadId).toBe(done?.threadId)
    expect(model.calls[1]?.body.messages.slice(-2)).toEqual([
      { role: 'assistant', content: 'It is raining.' },
      { role: 'user', content: 'now?' },
    ])
  })

  test('with a supervisor shows the hand-off and the tool calls of the other agent', async () => {
    const { tool, clerk, boss, handOff } = await newTeam()
    model.script(
      { calls: [{ name: handOff, args: { message: 'order 3 chairs' } }] },
      { calls: [{ name: tool, args: { item: 'chairs' } }] },
      { text: '{"item":"chairs","amount":3}' },
      { text: 'Ordered.' },
    )
    const events = await read(await open({ agentId: boss.id, message: '3 chairs please' }))
    expect(events.map(({ event, data }) => [event, data.agentId ?? data.to])).toEqual([
      ['tool.call', boss.id],
      ['handoff', clerk.id],
      ['tool.call', clerk.id],
      ['tool.result', clerk.id],
      ['tool.result', boss.id],
      ['message.delta', boss.id],
      ['message.done', undefined],
    ])
    expect(events[3]?.data).toMatchObject({ toolId: tool, success: true, data: { item: 'chairs', amount: 3 } })
    expect(events[4]?.data).toMatchObject({
      toolId: handOff,
      success: true,
      data: { data: { item: 'chairs', amount: 3 } },
    })
    expect(events.at(-1)?.data).toMatchObject({ message: 'Ordered.', usage: { totalTokens: 60 } })
    const thread = await history(ctx, String(events.at(-1)?.data.threadId))
    expect(thread.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant'])
  })

  test('without streaming gives the same answer', async () => {
    const agent = await newAgent(ctx, { outputSchema: null }, model)
    model.script({ text: 'Hello.' })
    const answer = await chat(ctx, { agentId: agent.id, message: 'hi' }, never)
    expect(answer).toMatchObject({ message: 'Hello.', threadId: expect.any(String), usage: { totalTokens: 15 } })
  })

  test('refuses before it starts to stream', async () => {
    const agent = await newAgent(ctx, { outputSchema: null }, model)
    const threadId = 'thr_nothing'
    expect(await outcome(open({ agentId: agent.id }))).toBe('MESSAGE_REQUIRED')
    expect(await outcome(open({ message: 'x' }))).toBe('INVALID_INPUT')
    expect(await outcome(open({ agentId: 'agt_no', message: 'x' }))).toBe('AGENT_NOT_FOUND')
    expect(await outcome(open({ agentId: agent.id, message: 'x', version: 'published' }))).toBe('AGENT_NOT_FOUND')
    expect(await outcome(open({ agentId: agent.id, message: 'x', threadId }))).toBe('THREAD_NOT_FOUND')
    expect(await outcome(open({ agentId: agent.id, message: 'x' }, null, await newTenant(database)))).toBe(
      'AGENT_NOT_FOUND',
    )
  })

  test('that fails ends with an error that names the provider, and frees the thread', async () => {
    const agent = await newAgent(ctx, { outputSchema: null }, model)
    model.script({ status: 400 }, { text: 'Again.' })
    const events = await read(await open({ agentId: agent.id, message: 'x' }))
    expect(names(events)).toEqual(['error'])
    const { data } = events[0] as Event
    expect(data).toMatchObject({ code: 'MODEL_ERROR', details: [{ provider: 'openai-compatible' }] })
    const again = await read(await open({ agentId: agent.id, message: 'y', threadId: data.threadId }))
    expect(again.at(-1)?.data.message).toBe('Again.')
    await expect.poll(() => database.db.select().from(threadTurns)).toEqual([])
  })
})

test.each([1, 3, 100, 100_000])('does not pass on a key that the model reveals in pieces of %i', async (pieces) => {
  const key = 'planted-key-0123456789'
  await setVaultSecret(ctx, { name: 'LLM', value: key })
  const settings = { provider: 'openai-compatible', modelId: 'm', baseUrl: model.url, apiKey: '${secrets.LLM}' }
  const agent = await newAgent(ctx, { outputSchema: null, model: settings })
  model.answer((call) => ({
    text: `It is ${call.authorization}, or ${btoa(key)}. ${'That is all. '.repeat(30)}`,
    pieces,
  }))
  const events = await read(await open({ agentId: agent.id, message: 'which key?' }))
  expect(spoken(events)).toMatch(/^It is Bearer \*\*\*, or \*\*\*\. That is all\./)
  expect(spoken(events)).toBe(events.at(-1)?.data.message)
  const kept = await history(ctx, String(events.at(-1)?.data.threadId))
  for (const text of [JSON.stringify(events), JSON.stringify(kept)]) {
    expect(text).not.toContain(key)
    expect(text).not.toContain(btoa(key))
  }
})

describe('a broken stream', () => {
  test('resumes where it was, even while the agent is still answering', async () => {
    const agent = await newAgent(ctx, { outputSchema: null }, model)
    const tool = await newScriptTool(ctx, 'return 1')
    const talker = await newAgent(ctx, { outputSchema: null, tools: [tool] }, model)
    model.script({ calls: [{ name: tool, args: {} }] }, { text: 'One two three.', delayMs: 400 })
    const first = await read(await open({ agentId: talker.id, message: 'x' }), ({ event }) => event === 'tool.call')
    const seen = first.at(-1)?.id ?? ''
    const rest = await read(await open({ agentId: talker.id, message: 'x' }, seen))
    expect([...names(first), ...names(rest)]).toEqual([
      'tool.call',
      'tool.result',
      'message.delta',
      'message.delta',
      'message.delta',
      'message.done',
    ])
    expect(new Set([...first, ...rest].map(({ id }) => id)).size).toBe(6)
    const half = rest[2]?.id ?? ''
    expect(names(await read(await open({ agentId: talker.id, message: 'x' }, half)))).toEqual(names(rest.slice(3)))
    // No event was sent twice, and none follows the last.
    expect(model.calls).toHaveLength(2)
    expect(await open({ agentId: talker.id, message: 'x' }, rest.at(-1)?.id ?? '')).toBeNull()
    expect(await outcome(open({ agentId: agent.id, message: 'x' }, half))).toBe('THREAD_NOT_FOUND')
  })

  test('cannot be resumed by anyone else', async () => {
    const agent = await newAgent(ctx, { outputSchema: null }, model)
    model.script({ text: 'Secret.' })
    const jwt = (id: string): ServiceContext => ({
      ...ctx,
      actor: { kind: 'jwt', id, secretId: 's', role: 'operator' },
    })
    const events = await read(await open({ agentId: agent.id, message: 'x' }, null, jwt('ada')))
    const body = { agentId: agent.id, message: 'x' }
    expect(await outcome(open(body, events[0]?.id ?? '', jwt('bob')))).toBe('THREAD_NOT_FOUND')
    expect(await outcome(open(body, events[0]?.id ?? '', await newTenant(database)))).toBe('THREAD_NOT_FOUND')
    for (const id of ['', 'x', '1', 'thr_x.1', `${events[0]?.id}9999`])
      expect((await refusal(open(body, id, jwt('ada')))).code, id).toBe('INVALID_INPUT')
  })

  test('has nothing after its last event, also in the moment before the turn ends', async () => {
    const agent = await newAgent(ctx, { outputSchema: null }, model)
    model.script({ text: 'One.' })
    const last = (await read(await open({ agentId: agent.id, message: 'x' }))).at(-1)?.id ?? ''
    await expect.poll(() => database.db.select().from(threadTurns)).toEqual([])
    const [threadId = '', ticket] = last.split('.')
    const leasedUntil = new Date(Date.now() + 60_000)
    await database.db
      .insert(threadTurns)
      .values({ tenantId: ctx.tenantId, threadId, ticket: Number(ticket), leasedUntil })
    expect(await open({ agentId: agent.id, message: 'x' }, last)).toBeNull()
    expect(await outcome(open({ agentId: agent.id, message: 'x' }, `${last}9`))).toBe('INVALID_INPUT')
    await database.db.delete(threadTurns)
  })

  test('is deleted after an hour, as are turns that died', async () => {
    const agent = await newAgent(ctx, { outputSchema: null }, model)
    model.script({ text: 'One.' })
    const events = await read(await open({ agentId: agent.id, message: 'x' }))
    await expect.poll(() => database.db.select().from(threadTurns)).toEqual([])
    const threadId = String(events.at(-1)?.data.threadId)
    await database.db
      .insert(threadTurns)
      .values({ tenantId: ctx.tenantId, threadId, ticket: 9, leasedUntil: new Date(Date.now() - 1_000) })
    expect(await sweepChats(database.db, new Date(Date.now() + 3_500_000))).toBe(0)
    expect(await sweepChats(database.db, new Date(Date.now() + 3_610_000))).toBeGreaterThanOrEqual(2)
    expect(await database.db.select().from(threadTurns)).toEqual([])
    await database.sql`update agent_turns set started_at = started_at - interval '61 minutes'`
    expect(await outcome(open({ agentId: agent.id, message: 'x' }, events[0]?.id ?? ''))).toBe('INVALID_INPUT')
  })

  test('of a process that died before it told the end gets the recorded answer', async () => {
    const agent = await newAgent(ctx, { outputSchema: null }, model)
    model.script({ text: 'One two.' })
    const events = await read(await open({ agentId: agent.id, message: 'x' }))
    // The stream ends slightly before the turn, but by then all its events are stored.
    await expect.poll(() => database.db.select().from(threadTurns)).toEqual([])
    await database.db
      .delete(chatEvents)
      .where(and(eq(chatEvents.tenantId, ctx.tenantId), eq(chatEvents.event, 'message.done')))
    const rest = await read(await open({ agentId: agent.id, message: 'x' }, events[0]?.id ?? ''))
    expect(names(rest)).toEqual(['message.delta', 'message.restart', 'message.delta', 'message.done'])
    expect(rest.at(-1)?.data).toEqual(events.at(-1)?.data)
    expect(model.calls).toHaveLength(1)
  })
})

test('the built-in model hands over to the first agent and reports its answer', async () => {
  const clerk = await newAgent(ctx, { name: 'Clerk' })
  const boss = await newAgent(ctx, { name: 'Boss', supervisor: true, outputSchema: null, handoffs: [clerk.id] })
  const events = await read(await open({ agentId: boss.id, message: 'item: chairs, amount: 12' }))
  expect(names(events).slice(0, 3)).toEqual(['tool.call', 'handoff', 'tool.result'])
  expect(spoken(events)).toMatch(/item: chairs\namount: 12$/)
  expect(events.at(-1)?.data.metadata).toMatchObject({ provider: 'scripted' })
})
