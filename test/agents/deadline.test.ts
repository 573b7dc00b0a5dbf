import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { threadTurns } from '@/db/schema/threads'
import type { ServiceContext } from '@/server/context'
import { openChat } from '@/server/talk/chat'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { type ModelServer, startModelServer } from '../support/model'
import { invokeAgent } from '../support/talk'
import { newTenant } from '../support/tenant'
import { refusal } from '../workflows/support'
import { newAgent } from './support'

const LIMIT_MS = 3_000

let database: FreshDatabase
let ctx: ServiceContext
let model: ModelServer
const never = new AbortController().signal
beforeAll(async () => {
  Object.assign(process.env, {
    ALLOW_PRIVATE_HOSTS: '127.0.0.1',
    AGENT_TIMEOUT_MS: String(LIMIT_MS),
    LOG_LEVEL: 'fatal',
  })
  database = await freshDatabase()
  model = await startModelServer()
  // The first call loads modules, which must not use up a test's time.
  const { id } = await newAgent(await newTenant(database), {}, model)
  model.answer(() => ({ status: 400 }))
  await refusal(invokeAgent(await newTenant(database), { agentId: id, body: { message: 'x' } }, never))
})
beforeEach(async () => {
  ctx = await newTenant(database)
})
afterAll(async () => {
  await model.close()
  await database.close()
})

test('a silent provider is abandoned at the deadline and its connection closed', async () => {
  const { id } = await newAgent(ctx, {}, model)
  model.script({ hang: true })
  const started = performance.now()
  const { code, details } = await refusal(invokeAgent(ctx, { agentId: id, body: { message: 'x' } }, never))
  const took = performance.now() - started
  expect([code, details[0]]).toEqual([
    'MODEL_ERROR',
    expect.objectContaining({ provider: 'openai-compatible', message: expect.stringContaining(`${LIMIT_MS} ms`) }),
  ])
  expect(took).toBeGreaterThan(LIMIT_MS - 50)
  await expect.poll(() => model.calls[0]?.aborted).toBe(true)
  expect(await database.db.select().from(threadTurns)).toEqual([])
})

test('a busy provider is retried until the deadline, with growing delays', async () => {
  const { id } = await newAgent(ctx, {}, model)
  model.answer(() => ({ status: 503 }))
  const { code, details } = await refusal(invokeAgent(ctx, { agentId: id, body: { message: 'x' } }, never))
  expect(code).toBe('MODEL_ERROR')
  // The second message if the time ends within the last call.
  expect(details[0]?.message).toMatch(
    /^openai-compatible (answered with status 503|and .* did not finish within 3000 ms)$/,
  )
  expect(model.calls.length).toBeGreaterThanOrEqual(2)
  expect(model.calls.length).toBeLessThanOrEqual(4)
})

test('a chat with a silent provider ends with an error even after its caller has gone', async () => {
  const { id } = await newAgent(ctx, { outputSchema: null }, model)
  model.script({ hang: true })
  const source = await openChat(ctx, { body: { agentId: id, message: 'x' }, lastEventId: null }, never)
  const gone = new AbortController()
  const reading = source?.(gone.signal).next()
  gone.abort()
  expect(await reading).toMatchObject({ done: true })
  await expect.poll(() => model.calls[0]?.aborted).toBe(true)
  await expect.poll(() => database.db.select().from(threadTurns)).toEqual([])
})
