import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { runAgentCases } from '@/server/agents/run-cases'
import { type KeepAgentCase, keepAgentCase } from '@/server/agents/test-cases'
import type { ServiceContext } from '@/server/context'
import { deleteSubjectData } from '@/server/subjects/delete'
import { stopSandbox } from '@/server/tools/sandbox/run-script'
import { agentCases } from '@/server/views/test-cases'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { type ModelServer, startModelServer } from '../support/model'
import { invokeAgent } from '../support/talk'
import { newTenant, withRole } from '../support/tenant'
import { outcome } from '../workflows/support'
import { newAgent } from './support'

vi.hoisted(() => {
  Object.assign(process.env, { ALLOW_PRIVATE_HOSTS: '127.0.0.1', LOG_LEVEL: 'silent', MILLRACE_EMBEDDED: '1' })
})

let database: FreshDatabase
let model: ModelServer
let ctx: ServiceContext
const never = new AbortController().signal
beforeAll(async () => {
  database = await freshDatabase()
  model = await startModelServer()
})
beforeEach(async () => {
  ctx = await newTenant(database)
})
afterAll(async () => {
  await stopSandbox()
  await model.close()
  await database.close()
})

const say = (agentId: string, body: object, as = ctx) => invokeAgent(as, { agentId, body: body as never }, never)
const keep = (id: string, threadId: string, expected: KeepAgentCase['expected'], as = ctx) =>
  keepAgentCase(as, { id, body: { name: 'Kept', threadId, expected } })
const run = (id: string, draft: object = {}, as = ctx) => runAgentCases(as, { id, body: { draft } }, never)
const TWO: KeepAgentCase['expected'] = { kind: 'fields', fields: [{ path: ['amount'], value: 3 }] }
const threadCount = async () =>
  Number((await database.sql`select count(*) as n from threads where tenant_id = ${ctx.tenantId}`)[0]?.n)

test('a thread is kept as its messages, which the draft answers one after the other, without a thread of its own', async () => {
  const { id } = await newAgent(ctx, {
    model: { provider: 'openai-compatible', modelId: 'm', baseUrl: model.url, prices: { input: 1, output: 2 } },
  })
  const answers = () => model.script({ text: '{"item":"apples","amount":2}' }, { text: '{"item":"pears","amount":3}' })
  answers()
  const { threadId } = await say(id, { message: 'Two apples', dataContext: { shop: 'A' } })
  await say(id, { message: 'No, three pears', threadId })
  await keep(id, threadId, TWO)
  expect(await agentCases(ctx, { id })).toMatchObject([
    {
      name: 'Kept',
      threadId,
      given: {
        messages: [
          { message: 'Two apples', dataContext: { shop: 'A' } },
          { message: 'No, three pears', dataContext: {} },
        ],
      },
    },
  ])
  answers()
  const { results } = await run(id, { instructions: 'Say it shorter.' })
  expect(results).toMatchObject([{ outcome: 'passed', usage: { totalTokens: 30 }, cost: expect.any(Number) }])
  const last = model.calls[1]?.body.messages
  expect(JSON.stringify(last)).toContain('Say it shorter.')
  expect(
    last.filter(({ role }: { role: string }) => role !== 'system').map(({ role }: { role: string }) => role),
  ).toEqual(['user', 'assistant', 'user'])
  expect(await threadCount()).toBe(1)
})

test('an answer that does not match, a model that fails and a text that lacks something fail, with their usage', async () => {
  const { id } = await newAgent(ctx, {}, model)
  model.script({ text: '{"item":"apples","amount":2}' })
  const { threadId } = await say(id, { message: 'Two apples' })
  await keep(id, threadId, TWO)
  model.script({ text: 'half of it' }, { text: 'still not' })
  expect((await run(id)).results).toMatchObject([
    {
      outcome: 'failed',
      usage: { totalTokens: 30 },
      differences: [{ expected: 'succeeds', actual: expect.stringContaining('OUTPUT_SCHEMA_MISMATCH') }],
    },
  ])
  model.answer(() => ({ status: 400 }))
  expect((await run(id)).results).toMatchObject([
    { outcome: 'failed', differences: [{ actual: expect.stringContaining('MODEL_ERROR') }] },
  ])
  // The same agent, answering in text.
  await keep(id, threadId, { kind: 'contains', text: 'THREE' })
  model.answer(() => ({ text: 'Two or three.' }))
  expect((await run(id, { outputSchema: null })).results.map(({ outcome }) => outcome)).toEqual(['failed', 'passed'])
})

test('once all cases together have used 200,000 tokens, no further message is sent', async () => {
  const { id } = await newAgent(ctx, {}, model)
  model.answer(() => ({ text: '{"item":"apples","amount":3}', promptTokens: 200_000 }))
  const { threadId } = await say(id, { message: 'Two apples' })
  for (let n = 0; n < 4; n++) await keep(id, threadId, TWO)
  const { results } = await run(id)
  // Three run concurrently.
  expect(results.map(({ outcome }) => outcome)).toEqual(['passed', 'passed', 'passed', 'not run'])
  expect(results[3]?.reason).toContain('200000 tokens')
})

test('only editors keep and run cases, of threads of the same agent', async () => {
  const { id } = await newAgent(ctx)
  const { threadId } = await say(id, { message: '2 apples' })
  expect(await outcome(keep(id, threadId, TWO, withRole(ctx, 'operator')))).toBe('FORBIDDEN')
  expect(await outcome(run(id, {}, withRole(ctx, 'operator')))).toBe('FORBIDDEN')
  const { id: other } = await newAgent(ctx)
  expect(await outcome(keep(other, threadId, TWO))).toBe('THREAD_NOT_FOUND')
  expect(await outcome(keep(id, threadId, TWO, await newTenant(database)))).toBe('THREAD_NOT_FOUND')
  for (let n = 0; n < 10; n++) await say(id, { message: `${n} more`, threadId })
  await expect(keep(id, threadId, TWO)).rejects.toMatchObject({ details: [{ path: 'threadId' }] })
})

test('a case is a copy of a person’s message, and is deleted with it', async () => {
  const { id } = await newAgent(ctx)
  const ada: ServiceContext = { ...ctx, actor: { kind: 'jwt', id: 'ada', secretId: 'sec_1', role: 'operator' } }
  const hers = await say(id, { message: '2 apples for Ada' }, ada)
  const mine = await say(id, { message: '3 pears' })
  await keep(id, hers.threadId, TWO)
  await keep(id, mine.threadId, TWO)
  await deleteSubjectData(ctx, { sub: 'ada' })
  expect((await agentCases(ctx, { id })).map(({ threadId }) => threadId)).toEqual([mine.threadId])
})
