import { readFileSync } from 'node:fs'
import { and, eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runs } from '@/db/schema/runs'
import { messages } from '@/db/schema/threads'
import { getThread } from '@/server/agents/get-thread'
import { listThreads } from '@/server/agents/list-threads'
import { runAgentCases } from '@/server/agents/run-cases'
import { changeAgentExpected, keepAgentCase } from '@/server/agents/test-cases'
import type { ServiceContext } from '@/server/context'
import { beginDraftChat } from '@/server/talk/chat'
import { readThread } from '@/server/views/agents/read-thread'
import { readConversation } from '@/server/views/runs/conversation'
import { agentCases } from '@/server/views/test-cases'
import { newAgent } from '../agents/support'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { type ModelServer, startModelServer } from '../support/model'
import { startTestRuntime, type TestRuntime } from '../support/runtime'
import { chat, invokeAgent } from '../support/talk'

// A run's messages to an agent also appear in the agent's thread and in its test cases, where people see no more of
// them.

const IBAN = 'nightjar-DE02-1203'
const never = new AbortController().signal

let database: FreshDatabase
let runtime: TestRuntime
let model: ModelServer
let key: ServiceContext
let person: ServiceContext
let agentId: string
let runId: string
let threadId: string

const ANSWERS = { type: 'object', properties: { letter: { type: 'string' }, iban: { type: 'string' } } }

beforeAll(async () => {
  database = await freshDatabase({ max: 20 })
  runtime = await startTestRuntime(database.url, { MILLRACE_EMBEDDED: '1', ALLOW_PRIVATE_HOSTS: '127.0.0.1' })
  model = await startModelServer()
  model.answer(() => ({ text: JSON.stringify({ letter: `To ${IBAN}`, iban: IBAN }) }))
  key = runtime.ctx
  person = { ...key, actor: { kind: 'user', id: 'usr_1', name: 'Viv', sessionId: 'ses_1', role: 'owner' } }
  agentId = (await newAgent(key, { outputSchema: ANSWERS }, model)).id
  runId = await asked()
  threadId = (await listThreads(key, agentId, {})).threads[0]?.id ?? ''
})
afterAll(async () => {
  await model?.close()
  await runtime?.stop()
  await database?.close()
})

async function asked(sensitive = true, thread?: string, iban: string | string[] = IBAN): Promise<string> {
  const ask = { id: 'ask', type: 'call-agent', agentId, message: 'Pay to ${iban}', dataContext: { of: '${iban}' } }
  const definition = {
    payload: { iban: { type: 'any', sensitive } },
    steps: [
      { ...ask, ...(thread ? { threadId: thread } : {}) },
      { id: 'end', type: 'end-flow', output: {} },
    ],
    edges: [{ from: 'ask', to: 'end' }],
  }
  const id = await runtime.start(definition, { iban })
  expect(await runtime.wait(id)).toMatchObject({ status: 'completed' })
  return id
}

/** Everything the caller can read of the thread. */
async function told(as: ServiceContext, of = threadId): Promise<string[]> {
  const ids = { agentId, threadId: of }
  const read = [
    listThreads(as, agentId, {}),
    getThread(as, ids, {}),
    getThread(as, ids, { limit: '1' }),
    readThread(as, ids),
  ]
  return (await Promise.all(read)).map((one) => JSON.stringify(one))
}

test('a thread shows people none of a run’s messages to its agent, and a key all of them', async () => {
  for (const text of await told(key)) expect(text).toContain(IBAN)
  for (const text of await told(person)) {
    expect(text).toContain('Pay to ***')
    expect(text).not.toContain(IBAN)
  }
  const said = await readConversation(person, { runId, seq: 1 })
  expect(said.turns).toMatchObject([{ message: 'Pay to ***', dataContext: { of: '***' } }])
  expect(JSON.stringify(said)).not.toContain(IBAN)
})

test('later messages in such a thread repeat nothing, and people do not continue it', async () => {
  await chat(key, { agentId, threadId, message: 'What was it?' }, never)
  for (const text of await told(person)) expect(text).not.toContain(IBAN)
  const refused = { code: 'FORBIDDEN', details: [{ path: 'threadId' }] }
  const body = { message: 'And again?', threadId }
  await expect(invokeAgent(person, { agentId, body }, never)).rejects.toMatchObject(refused)
  await expect(chat(person, { agentId, ...body }, never)).rejects.toMatchObject(refused)
  await expect(beginDraftChat(person, { agentId, draft: {}, ...body } as never, never)).rejects.toMatchObject(refused)
  const own = await invokeAgent(person, { agentId, body: { message: 'New' } }, never)
  expect(await invokeAgent(person, { agentId, body: { ...body, threadId: own.threadId } }, never)).toBeDefined()
})

test('test cases kept from it show people as little, and still run and change', async () => {
  const expected = { kind: 'fields' as const, fields: [{ path: ['letter'], value: `From ${IBAN}` }] }
  const { id: caseId } = await keepAgentCase(key, { id: agentId, body: { name: 'Kept', threadId, expected } })
  expect(JSON.stringify(await agentCases(key, { id: agentId }))).toContain(`Pay to ${IBAN}`)
  const [shown] = await agentCases(person, { id: agentId })
  expect(shown).toMatchObject({ name: 'Kept', given: { messages: [{ message: 'Pay to ***' }, {}] } })
  expect(JSON.stringify(shown)).not.toContain(IBAN)
  const { results } = await runAgentCases(person, { id: agentId, body: { draft: {} } }, never)
  expect(results).toMatchObject([
    { id: caseId, outcome: 'failed', differences: [{ path: 'letter', expected: '"From ***"', actual: '"To ***"' }] },
  ])
  await changeAgentExpected(person, { id: agentId, caseId, expected: shown?.expected })
  expect((await agentCases(key, { id: agentId }))[0]?.expected).toEqual(expected)
})

test('older runs’ messages, which name no run, are found by their records', async () => {
  const named = () =>
    database.db
      .select({ runId: messages.runId })
      .from(messages)
      .where(and(eq(messages.threadId, threadId), eq(messages.seq, 1)))
  await database.db.update(messages).set({ runId: null })
  await database.db.execute(sql.raw(readFileSync('db/migrations/0062_messages_of_earlier_runs.sql', 'utf8')))
  expect(await named()).toEqual([{ runId }])
})

test('a run without sensitive fields changes nothing in its thread', async () => {
  await asked(false)
  const newest = (await listThreads(person, agentId, {})).threads[0]
  expect(newest?.title).toBe(`Pay to ${IBAN}`)
  expect(JSON.stringify(await getThread(person, { agentId, threadId: newest?.id ?? '' }, {}))).toContain(IBAN)
})

test('where there is too much to look for, people are shown nothing rather than some of it', async () => {
  const many = (of: string) => Array.from({ length: 50 }, (_, n) => `${of}-number-${n}`)
  await asked(true, undefined, many('one'))
  const own = (await listThreads(key, agentId, {})).threads[0]?.id ?? ''
  for (const of of ['two', 'three']) await asked(true, own, many(of))
  const last = (await getThread(person, { agentId, threadId: own }, { limit: '1' })).turns[0]
  expect(last).toMatchObject({ message: '***', answer: '***', metadata: { provider: 'openai-compatible' } })
  for (const text of await told(person, own)) expect(text).not.toContain('-number-')
})

test('once the run is deleted, people see none of its messages, because nobody knows what it hid', async () => {
  const gone = await asked(true, threadId)
  await database.db.execute(sql`delete from runs where id = ${gone}`)
  const [newest] = (await getThread(person, { agentId, threadId }, { limit: '1' })).turns
  expect(newest).toMatchObject({ message: '***', dataContext: { of: '***' } })
  expect(JSON.stringify(await readThread(person, { agentId, threadId }))).not.toContain(IBAN)
  await database.db.delete(runs).where(eq(runs.id, runId))
  const { threads } = await listThreads(person, agentId, {})
  expect(threads.find(({ id }) => id === threadId)?.title).toBe('***')
  expect(JSON.stringify(await agentCases(person, { id: agentId }))).not.toContain(IBAN)
  expect(JSON.stringify(await getThread(key, { agentId, threadId }, {}))).toContain(IBAN)
})
