import { afterAll, beforeAll, expect, test } from 'vitest'
import { getTurn } from '@/server/agents/get-turn'
import { listTurns } from '@/server/agents/list-turns'
import type { ServiceContext } from '@/server/context'
import { listCalls } from '@/server/runs/calls'
import { retryRun } from '@/server/runs/retry'
import { startRun } from '@/server/runs/start'
import { terminateRun } from '@/server/runs/terminate'
import { createTool } from '@/server/tools/lifecycle'
import { listTurns as shownTurns } from '@/server/views/agents/list-turns'
import { createWorkflow, publishWorkflow } from '@/server/workflows/lifecycle'
import { until } from '../engine/support'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { type ModelServer, startModelServer } from '../support/model'
import { startTestRuntime, type TestRuntime } from '../support/runtime'
import { newAgent } from './support'

const IBAN = 'nightjar-DE02-1203'
const ANSWER = { text: '{"item":"chairs","amount":12}' }

let database: FreshDatabase
let runtime: TestRuntime
let model: ModelServer
let key: ServiceContext
let agentId: string
let tool: string

beforeAll(async () => {
  database = await freshDatabase({ max: 10 })
  model = await startModelServer()
  runtime = await startTestRuntime(database.url, { ALLOW_PRIVATE_HOSTS: '127.0.0.1' })
  key = runtime.ctx
  tool = (await createTool(key, { name: 'One', kind: 'script', config: { code: 'return 1' } } as never)).id
})
afterAll(async () => {
  await model?.close()
  await runtime?.stop()
  await database?.close()
})

async function newOne(): Promise<string> {
  agentId = (await newAgent(key, { tools: [tool] }, model)).id
  return agentId
}
const definition = (step: object = {}, more: object = {}) => ({
  steps: [
    { id: 'ask', type: 'call-agent', name: 'Ask', agentId, message: 'x', retry: { maxAttempts: 1 }, ...step },
    { id: 'end', type: 'end-flow', output: {} },
  ],
  edges: [{ from: 'ask', to: 'end' }],
  ...more,
})
const ended = async (runId: string) => (await runtime.wait(runId)).runId

test('an agent’s turns are listed newest first, with their runs: those that failed, were cut short or are under way too', async () => {
  await newOne()
  model.script(ANSWER)
  const done = await ended(await runtime.start(definition()))
  model.script({ text: 'no' }, { text: 'no' })
  const mismatched = await ended(await runtime.start(definition()))
  model.script({ calls: [{ name: tool, args: {} }] }, { status: 400 })
  const cut = await ended(await runtime.start(definition()))
  model.script({ calls: [{ name: tool, args: {} }] }, { hang: true })
  const open = await runtime.start(definition())
  await until(() => model.calls.length === 2)
  const { turns, nextCursor } = await listTurns(key, agentId, {})
  const usage = (totalTokens: number) => expect.objectContaining({ totalTokens })
  const ends = { endedAt: expect.any(String) }
  expect(turns).toMatchObject([
    { runId: open, state: 'working', errorCode: null, usage: usage(15), endedAt: null },
    { runId: cut, state: 'failed', errorCode: 'MODEL_ERROR', usage: usage(15), ...ends },
    { runId: mismatched, state: 'failed', errorCode: 'OUTPUT_SCHEMA_MISMATCH', usage: usage(30), ...ends },
    { runId: done, state: 'done', errorCode: null, usage: usage(15), threadId: expect.any(String), ...ends },
  ])
  for (const turn of turns) expect(turn).toMatchObject({ agentId, version: 1, stepId: 'ask', visit: 1 })
  expect(nextCursor).toBeNull()
  const pages: string[] = []
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await listTurns(key, agentId, { limit: '1', ...(cursor ? { cursor } : {}) })
    pages.push(...page.turns.map(({ id }) => id))
    cursor = page.nextCursor
  }
  expect(pages).toEqual(turns.map(({ id }) => id))
  const shown = await shownTurns(key, { agentId })
  expect(shown.items[0]).toMatchObject({ workflowName: 'Test', stepName: 'Ask', stepKey: 'ask' })
  // As a process wrote it that did not know `list` as a price.
  await database.sql`update agent_turns set cost = 'NaN' where run_id = ${done}`
  expect((await listTurns(key, agentId, {})).turns.find(({ runId }) => runId === done)?.cost).toBeNull()
  await terminateRun(key, { runId: open })
  expect((await listTurns(key, agentId, {})).turns[0]).toMatchObject({ runId: open, state: 'failed', ...ends })
})

test('a turn has the calls that its run lists', async () => {
  await newOne()
  model.script({ calls: [{ name: tool, args: {} }] }, ANSWER)
  const runId = await ended(await runtime.start(definition()))
  const [turn] = (await listTurns(key, agentId, {})).turns
  const ids = { agentId, turnId: turn?.id ?? '' }
  const { calls } = await listCalls(key, runId, {})
  expect(await getTurn(key, ids, {})).toEqual({ ...turn, answer: null, calls, next: null })
  const first = await getTurn(key, ids, { limit: '2' })
  expect(first.calls).toEqual(calls.slice(0, 2))
  expect((await getTurn(key, ids, { after: first.next })).calls).toEqual(calls.slice(2))
})

test('a retry that continues a turn has one of its own, which begins with it', async () => {
  await newOne()
  model.script({ calls: [{ name: tool, args: {} }] }, { status: 400 })
  const old = await ended(await runtime.start(definition()))
  model.script(ANSWER)
  const { runId } = await retryRun(key, { runId: old })
  await ended(runId)
  const { turns } = await listTurns(key, agentId, {})
  expect(turns.map((turn) => [turn.runId, turn.state])).toEqual([
    [runId, 'done'],
    [old, 'failed'],
  ])
  const [again, first] = turns
  expect(Date.parse(again?.startedAt ?? '')).toBeGreaterThanOrEqual(Date.parse(first?.endedAt ?? ''))
})

test('turns of other workspaces, agents and subjects do not exist', async () => {
  await newOne()
  model.script(ANSWER)
  await ended(await runtime.start(definition()))
  const [turn] = (await listTurns(key, agentId, {})).turns
  const ids = { agentId, turnId: turn?.id ?? '' }
  const missing = { code: 'TURN_NOT_FOUND' }
  const other = await runtime.as('owner', 'ten_other')
  await expect(listTurns(other, agentId, {})).rejects.toMatchObject({ code: 'AGENT_NOT_FOUND' })
  await expect(getTurn(other, ids, {})).rejects.toMatchObject(missing)
  await expect(getTurn(key, { ...ids, agentId: 'agt_other' }, {})).rejects.toMatchObject(missing)
  await expect(getTurn(key, { ...ids, turnId: 'trn_other' }, {})).rejects.toMatchObject(missing)
  const reach = { workflowIds: null, agentIds: [], ownRuns: false }
  await expect(getTurn({ ...key, reach }, ids, {})).rejects.toMatchObject(missing)

  const { id: workflowId } = await createWorkflow(key, { name: 'Own', ...definition() })
  await publishWorkflow(key, { id: workflowId })
  const token = (id: string): ServiceContext => ({
    ...key,
    actor: { kind: 'jwt', id, secretId: 's', role: 'operator' },
  })
  model.script(ANSWER)
  const { runId } = await startRun(token('ada'), { workflowId, body: {} })
  await ended(runId)
  const own = await listTurns(token('ada'), agentId, {})
  expect(own.turns).toMatchObject([{ runId }])
  expect((await listTurns(token('bob'), agentId, {})).turns).toEqual([])
  expect((await listTurns(key, agentId, {})).turns).toHaveLength(2)
  const hers = { agentId, turnId: own.turns[0]?.id ?? '' }
  expect((await getTurn(token('ada'), hers, {})).calls).toHaveLength(1)
  await expect(getTurn(token('bob'), hers, {})).rejects.toMatchObject(missing)
  await expect(getTurn(token('ada'), ids, {})).rejects.toMatchObject(missing)
})

test('people see no sensitive field in a turn, and keys do', async () => {
  await newOne()
  model.script({ text: `{"item":"${IBAN}","amount":1}` })
  const payload = { iban: { type: 'string', sensitive: true } }
  await ended(await runtime.start(definition({ message: '${iban}' }, { payload }), { iban: IBAN }))
  const person: ServiceContext = {
    ...key,
    actor: { kind: 'user', id: 'usr_1', name: 'Viv', sessionId: 'ses_1', role: 'owner' },
  }
  const [turn] = (await listTurns(person, agentId, {})).turns
  const ids = { agentId, turnId: turn?.id ?? '' }
  expect(JSON.stringify(await getTurn(key, ids, {}))).toContain(IBAN)
  expect((await getTurn(person, ids, {})).calls).toMatchObject([{ text: '{"item":"***","amount":1}' }])
})
