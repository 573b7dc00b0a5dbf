import { and, eq } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { messages, threads, threadTurns } from '@/db/schema/threads'
import { TurnLease } from '@/server/agents/turn-lease'
import type { ServiceContext } from '@/server/context'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { type ModelServer, startModelServer } from '../support/model'
import { invokeAgent } from '../support/talk'
import { newTenant } from '../support/tenant'
import { outcome, refusal } from '../workflows/support'
import { history, newAgent } from './support'

let database: FreshDatabase
let ctx: ServiceContext
let model: ModelServer
const never = new AbortController().signal

beforeAll(async () => {
  Object.assign(process.env, { ALLOW_PRIVATE_HOSTS: '127.0.0.1', LOG_LEVEL: 'fatal' })
  database = await freshDatabase({ max: 20 })
  model = await startModelServer()
})
beforeEach(async () => {
  ctx = await newTenant(database)
  model.answer(() => ({ text: '{"item":"x","amount":1}' }))
})
afterAll(async () => {
  await model.close()
  await database.close()
})

const invoke = (agentId: string, body: object, as = ctx) => invokeAgent(as, { agentId, body: body as never }, never)
const jwt = (sub: string): ServiceContext => ({
  ...ctx,
  actor: { kind: 'jwt', id: sub, secretId: 'sec_1', role: 'operator' },
})

async function newThread(agentId: string, as = ctx): Promise<string> {
  return (await invoke(agentId, { message: 'begin' }, as)).threadId
}

describe('two simultaneous messages to one thread', () => {
  test('are both answered, one after the other, in order of arrival', async () => {
    const { id } = await newAgent(ctx, {}, model)
    const threadId = await newThread(id)
    let atWork = 0
    let most = 0
    model.answer((call) => {
      most = Math.max(most, ++atWork)
      setTimeout(() => atWork--, 50)
      return {
        text: `{"item":"${call.body.messages.at(-1).content}","amount":${call.body.messages.length}}`,
        delayMs: 50,
      }
    })
    const names = ['a', 'b', 'c', 'd', 'e']
    const answers = []
    for (const name of names) {
      answers.push(invoke(id, { message: name, threadId }))
      // Wait for each ticket to be drawn before sending the next message.
      await expect
        .poll(async () => (await database.db.select().from(threads).where(eq(threads.id, threadId)))[0]?.tickets)
        .toBe(answers.length)
    }
    const done = await Promise.all(answers)
    expect(done.map(({ data }) => data.item)).toEqual(names)
    // Each saw everything said before it: the system message, two messages per turn, and its own.
    expect(done.map(({ data }) => data.amount)).toEqual([4, 6, 8, 10, 12])
    expect(most).toBe(1)
    const said = await history(ctx, threadId)
    expect(said.map(({ seq }) => seq)).toEqual(said.map((_, index) => index + 1))
    const users = said
      .filter(({ role }) => role === 'user')
      .map(({ content }) => (content as { message: string }).message)
    expect(users).toEqual(['begin', ...names])
  })

  test('do not harm each other when one fails', async () => {
    const { id } = await newAgent(ctx, {}, model)
    const threadId = await newThread(id)
    model.answer((call) => ({ text: call.body.messages.at(-1).content === 'good' ? '{"item":"g","amount":1}' : 'bad' }))
    const outcomes = await Promise.all([
      outcome(invoke(id, { message: 'bad', threadId })),
      outcome(invoke(id, { message: 'good', threadId })),
    ])
    expect(outcomes).toEqual(['OUTPUT_SCHEMA_MISMATCH', expect.objectContaining({ data: { item: 'g', amount: 1 } })])
    expect((await history(ctx, threadId)).map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant'])
  })
})

describe('a turn', () => {
  test('that waits too long is refused as busy, and blocks no one', async () => {
    const { id } = await newAgent(ctx, {}, model)
    const threadId = await newThread(id)
    const first = await TurnLease.take(ctx, threadId, never)
    const { code, status } = await refusal(TurnLease.take(ctx, threadId, never, { patienceMs: 200 }))
    expect([code, status]).toEqual(['THREAD_BUSY', 429])
    await first.release()
    await (await TurnLease.take(ctx, threadId, never, { patienceMs: 200 })).release()
  })

  test('whose process died gives way, and its late save is refused', async () => {
    const { id } = await newAgent(ctx, {}, model)
    const threadId = await newThread(id)
    const dead = await TurnLease.take(ctx, threadId, never)
    await database.db
      .update(threadTurns)
      .set({ leasedUntil: new Date(Date.now() - 1) })
      .where(and(eq(threadTurns.tenantId, ctx.tenantId), eq(threadTurns.threadId, threadId)))
    const next = await TurnLease.take(ctx, threadId, never, { patienceMs: 1_000 })
    expect(await outcome(database.db.transaction((tx) => dead.confirm({ ...ctx, db: tx })))).toBe('THREAD_BUSY')
    await database.db.transaction((tx) => next.confirm({ ...ctx, db: tx }))
    await dead.release()
    await database.db.transaction((tx) => next.confirm({ ...ctx, db: tx }))
    await next.release()
  })
})

test('of a long thread sends the model only the most recent messages, starting with a whole turn', async () => {
  const { id } = await newAgent(ctx, {}, model)
  const threadId = await newThread(id)
  const rows = Array.from({ length: 300 }, (_, i) => ({
    tenantId: ctx.tenantId,
    threadId,
    seq: 3 + i,
    role: i % 2 === 0 ? ('user' as const) : ('assistant' as const),
    content: i % 2 === 0 ? { message: `m${i}`, dataContext: {} } : [{ type: 'text', text: 'y'.repeat(3_000) }],
  }))
  await database.db.insert(messages).values(rows)
  model.answer(() => ({ text: '{"item":"x","amount":1}' }))
  await invoke(id, { message: 'last', threadId })
  const sent = model.calls[0]?.body.messages ?? []
  expect(sent.length).toBe(202)
  expect([sent[1].role, sent.at(-1).content, sent.at(-3).content]).toEqual(['user', 'last', 'm298'])
  await database.db
    .update(messages)
    .set({ content: [{ type: 'text', text: 'z'.repeat(390_000) }] })
    .where(eq(messages.seq, 300))
  model.answer(() => ({ text: '{"item":"x","amount":1}' }))
  await invoke(id, { message: 'last', threadId })
  expect((model.calls[0]?.body.messages ?? []).length).toBeLessThan(20)
  expect((await history(ctx, threadId)).length).toBe(306)
})

describe('a thread is not found', () => {
  test.each(['thr_unknown', '', 'x'.repeat(200), "'; drop table threads", '../x'])('%j', async (threadId) => {
    const { id } = await newAgent(ctx, {}, model)
    expect(await outcome(invoke(id, { message: 'x', threadId }))).toBe('THREAD_NOT_FOUND')
  })

  test('when it belongs to another agent or tenant, with the same message', async () => {
    const { id } = await newAgent(ctx, {}, model)
    const other = await newAgent(ctx, {}, model)
    const threadId = await newThread(other.id)
    const stranger = await newTenant(database)
    const { id: strange } = await newAgent(stranger, {}, model)
    const unknown = await refusal(invoke(id, { message: 'x', threadId: 'thr_unknown' }))
    expect(await refusal(invoke(id, { message: 'x', threadId }))).toEqual(unknown)
    expect(await refusal(invoke(strange, { message: 'x', threadId }, stranger))).toEqual(unknown)
  })

  test("when it belongs to another subject; the tenant's own key may continue any thread", async () => {
    const { id } = await newAgent(ctx, {}, model)
    const adas = await newThread(id, jwt('ada'))
    const backend = await newThread(id)
    expect(await outcome(invoke(id, { message: 'x', threadId: adas }, jwt('bob')))).toBe('THREAD_NOT_FOUND')
    expect(await outcome(invoke(id, { message: 'x', threadId: backend }, jwt('ada')))).toBe('THREAD_NOT_FOUND')
    expect(await outcome(invoke(id, { message: 'x', threadId: adas }, jwt('ada')))).toHaveProperty('threadId', adas)
    expect(await outcome(invoke(id, { message: 'x', threadId: adas }))).toHaveProperty('threadId', adas)
    const run = (by: string): ServiceContext => ({ ...ctx, actor: { kind: 'system', id: by, role: 'owner' } })
    expect(await outcome(invoke(id, { message: 'x', threadId: adas }, run('bob')))).toBe('THREAD_NOT_FOUND')
    expect(await outcome(invoke(id, { message: 'x', threadId: adas }, run('ada')))).toHaveProperty('threadId', adas)
    expect(await outcome(invoke(id, { message: 'x', threadId: backend }, run('bob')))).toBe('THREAD_NOT_FOUND')
    expect(await outcome(invoke(id, { message: 'x', threadId: backend }, run('usr_1')))).toHaveProperty('threadId')
    const named = { kind: 'system', id: 'usr_1', role: 'owner', startedVia: 'jwt' } as const
    const asNamed = invoke(id, { message: 'x', threadId: backend }, { ...ctx, actor: named })
    expect(await outcome(asNamed)).toBe('THREAD_NOT_FOUND')
  })
})
