import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TurnAttempt } from '@/server/agents/journal/attempt'
import type { Call, Said } from '@/server/agents/journal/call'
import { Journal } from '@/server/agents/journal/journal'
import { recordCalls, recordEnd, type TurnRow } from '@/server/agents/journal/record'
import { updateAgent } from '@/server/agents/lifecycle'
import { newId } from '@/server/ids'
import { cancelRun } from '@/server/runs/cancel'
import { terminateRun } from '@/server/runs/terminate'
import { createTool, updateTool } from '@/server/tools/lifecycle'
import { until } from '../engine/support'
import { type Outside, type Seen, startOutside } from '../net/outside'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { forge } from '../support/invariants/finality'
import { type ModelCall, type ModelServer, startModelServer } from '../support/model'
import { startTestRuntime, type TestRuntime } from '../support/runtime'
import { newAgent } from './support'

let database: FreshDatabase
let runtime: TestRuntime
let model: ModelServer
let outside: Outside
let answering: (seen: Seen) => Promise<unknown> = async () => {}

beforeAll(async () => {
  database = await freshDatabase({ max: 10 })
  outside = await startOutside(async (seen, response) => {
    await answering(seen)
    response.setHeader('content-type', 'application/json').end('{"ok":true}')
  })
  model = await startModelServer()
  runtime = await startTestRuntime(database.url, { ALLOW_PRIVATE_HOSTS: '127.0.0.1', AGENT_TIMEOUT_MS: '3000' })
})
afterAll(async () => {
  await runtime?.stop()
  await outside?.stop()
  await model?.close()
  await database?.close()
})

const answer = { text: '{"item":"chairs","amount":12}' }
const usage = { inputTokens: 10, outputTokens: 5, totalTokens: 15 }

const asking = (agentId: string, step: object = {}) => ({
  steps: [
    { id: 'ask', type: 'call-agent', agentId, message: 'x', ...step },
    { id: 'end', type: 'end-flow' },
  ],
  edges: [{ from: 'ask', to: 'end' }],
})

const newTool = (path: string) =>
  createTool(runtime.ctx, {
    name: path,
    kind: 'http',
    config: { method: 'POST', url: `${outside.url}/${path}`, body: '${args}' },
  })

/** A run whose agent waits for its model. */
async function waiting(
  data: object = {},
  step: object = {},
): Promise<{ runId: string; attempt: TurnAttempt; row: TurnRow }> {
  const { id: agentId } = await newAgent(runtime.ctx, {}, model)
  model.script({ hang: true })
  const runId = await runtime.start(asking(agentId, step), data)
  await until(() => model.calls.length > 0)
  const attempt = {
    ...{ runId, branch: 'main', stepId: 'ask', visit: 1, attempt: 1, key: `${runId}:main:ask:1`, continues: false },
    used: null,
    hides: new Set<string>(),
    mayAsk: false,
    endsSoon: () => false,
    mayBegin: async () => {},
    fenced: async () => {},
  }
  const row: TurnRow = {
    ...{ id: newId('trn'), rootId: null, agentId, version: 1, tools: {}, threadId: null, historyTo: 0 },
    ...{ state: 'working', errorCode: null, usage, cost: null, startedAt: new Date() },
  }
  return { runId, attempt, row }
}

const call = (seq: number): Call => {
  const now = new Date().toISOString()
  const said = { text: 'Hello', end: { finishReason: 'stop', refusal: null }, calls: [], message: null }
  return {
    seq,
    kind: 'model',
    name: 'm',
    output: said,
    keyBase: null,
    policy: null,
    decision: null,
    usage,
    cost: null,
    provider: 'openai-compatible',
    fallback: null,
    tried: null,
    errorCode: null,
    startedAt: now,
    endedAt: now,
  }
}

const kept = (runId: string) => database.sql`
  select t.state, t.usage->'totalTokens' as tokens, (select count(*)::int from agent_calls c where c.turn_id = t.id) as calls
  from agent_turns t where t.run_id = ${runId}`

test('a call is recorded once; a repeat, an earlier attempt and an ended run record nothing, not even usage', async () => {
  const { runId, attempt, row } = await waiting()
  const { ctx } = runtime
  expect(await recordCalls(ctx, attempt, row, [call(1)])).toBe('written')
  expect(await kept(runId)).toEqual([{ state: 'working', tokens: 15, calls: 1 }])
  const twice = { ...row, usage: { inputTokens: 20, outputTokens: 10, totalTokens: 30 } }
  expect(await recordCalls(ctx, attempt, twice, [call(1)])).toBe('written')
  expect(await recordCalls(ctx, { ...attempt, attempt: 2 }, twice, [call(2)])).toBe('refused')
  expect(await recordCalls(ctx, { ...attempt, attempt: 0 }, twice, [call(2)])).toBe('refused')
  expect(await recordCalls(ctx, { ...attempt, visit: 2 }, twice, [call(2)])).toBe('refused')
  expect(await kept(runId)).toEqual([{ state: 'working', tokens: 15, calls: 1 }])
  await terminateRun(ctx, { runId })
  expect(await recordCalls(ctx, attempt, twice, [call(2)])).toBe('refused')
  expect(await kept(runId)).toEqual([{ state: 'working', tokens: 15, calls: 1 }])
})

test('a call of a turn whose thread was deleted in the meantime fails as one of a thread that does not exist', async () => {
  const { runId, attempt, row } = await waiting()
  const late = recordCalls(runtime.ctx, attempt, { ...row, threadId: 'thr_deleted' }, [call(1)])
  await expect(late).rejects.toMatchObject({ code: 'THREAD_NOT_FOUND' })
  await terminateRun(runtime.ctx, { runId })
})

test('an answer that did not count is not given again, but was paid for', async () => {
  const skipped: Said[] = []
  const journal = new Journal(null, {
    calls: [{ ...call(1), errorCode: 'MODEL_ERROR' }, call(2)],
    answers: new Map(),
    handOvers: new Map(),
  })
  const made = async () => {
    throw new Error('The second answer is recorded.')
  }
  expect(await journal.answer(made, (one) => skipped.push(one))).toMatchObject({ text: 'Hello', usage })
  expect(skipped).toMatchObject([{ usage }])
})

test('a step that is cancelled during a call says what its answers have used', async () => {
  const { ctx } = runtime
  const { id: toolId } = await newTool('slow')
  const { id } = await newAgent(ctx, { tools: [toolId] }, model)
  model.script({ calls: [{ name: toolId, args: {} }] })
  const arrived = outside.seen.length
  let release = () => {}
  answering = () => new Promise<void>((done) => (release = done)) as Promise<unknown>
  const runId = await runtime.start(asking(id))
  await until(() => outside.seen.length > arrived)
  await cancelRun(ctx, { runId })
  const run = await runtime.wait(runId)
  release()
  answering = async () => {}
  expect(run).toMatchObject({ outcome: 'cancelled' })
  expect(run.stepExecutionHistory[0]).toMatchObject({
    status: 'failed',
    usage: { usage: { totalTokens: 15 }, rounds: 1 },
  })
})

test('a claim that commits while a record waits for it wins', async () => {
  const { runId, attempt, row } = await waiting()
  await forge(database.sql, [runId])
  let late: Promise<unknown> = Promise.resolve()
  await database.sql.begin(async (claim) => {
    await claim`select 1 from runs where id = ${runId} for update`
    late = recordCalls(runtime.ctx, attempt, row, [call(1)])
    const waits = () =>
      database.sql`select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%agent_calls%'`
    await until(async () => (await waits()).length > 0)
    await claim`update step_records set attempt = 2 where run_id = ${runId}`
  })
  expect(await late).toBe('refused')
  expect(await kept(runId)).toEqual([])
  await terminateRun(runtime.ctx, { runId })
})

test('a turn that was overtaken in its thread saves nothing of its end', async () => {
  model.script(answer)
  const { id: agentId } = await newAgent(runtime.ctx, {}, model)
  const first = await runtime.wait(await runtime.start(asking(agentId), {}))
  const threadId = String(first.stepExecutionHistory[0]?.usage?.threadId)
  const { runId, attempt, row } = await waiting()
  const saved = {
    threadId,
    userMessage: { message: 'x', dataContext: {} },
    replies: [],
    metadata: {} as never,
    runId: null,
    answer: null,
  }
  const messages = () => database.sql`select seq from messages where thread_id = ${threadId}`
  const end = recordEnd(runtime.ctx, attempt, { ...row, threadId, state: 'done' }, [call(1)], { ...saved, ticket: 99 })
  await expect(end).rejects.toMatchObject({ code: 'THREAD_BUSY' })
  expect(await messages()).toHaveLength(2)
  expect(await kept(runId)).toEqual([])
  // A repeat after a lost response finds its ticket gone, and what it saved.
  await database.sql`insert into thread_turns (tenant_id, thread_id, ticket, leased_until)
    select tenant_id, id, 99, now() + interval '1 minute' from threads where id = ${threadId}`
  const done = { ...row, threadId, state: 'done' as const }
  const again = () => recordEnd(runtime.ctx, attempt, done, [call(1)], { ...saved, ticket: 99 })
  expect([await again(), await again()]).toEqual(['written', 'written'])
  expect(await messages()).toHaveLength(3)
  await terminateRun(runtime.ctx, { runId })
})

/** Lets another process claim the next attempt of the run's step, as far as the database shows. */
async function takeOver(runId: string): Promise<void> {
  await forge(database.sql, [runId])
  await database.sql`update step_records set attempt = attempt + 1 where run_id = ${runId} and step_id = 'ask'`
}

const pathsSeen = () => outside.seen.splice(0).map(({ url, headers }) => `${url} ${headers['idempotency-key']}`)

const saysResults = ({ body }: ModelCall) => body.messages.some(({ role }: { role: string }) => role === 'tool')

test('A4: a process that was taken over while its model answered begins no call', async () => {
  const { id: tool } = await newTool('one')
  const { id: agentId } = await newAgent(runtime.ctx, { tools: [tool] }, model)
  outside.seen.length = 0
  let runId = ''
  let taken: Promise<void> | undefined
  model.answer((call, index) => {
    // The model is asked again by the same process, after the other one has claimed the step.
    if (index === 0) {
      taken = until(() => runId !== '').then(() => takeOver(runId))
      return { status: 503, headers: { 'retry-after-ms': '500' } }
    }
    return saysResults(call) ? answer : { calls: [{ name: tool, args: { index } }] }
  })
  runId = await runtime.start(asking(agentId))
  const run = await runtime.wait(runId)
  await taken
  expect(run).toMatchObject({ status: 'completed', stepExecutionHistory: [{ attempt: 3 }, {}] })
  expect(outside.seen.map(({ body }) => body)).toEqual(['{"index":2}'])
})

test('A4: once a record of it is refused, a process begins no other call of the turn', async () => {
  const { id: first } = await newTool('first')
  const { id: last } = await newTool('last')
  const code = 'const end = Date.now() + 300; while (Date.now() < end); return 1'
  const { id: slow } = await createTool(runtime.ctx, { name: 'Slow', kind: 'script', config: { code } })
  const { id: agentId } = await newAgent(runtime.ctx, { tools: [first, slow, last] }, model)
  outside.seen.length = 0
  let runId = ''
  answering = async () => {
    if (outside.seen.length === 1) await until(() => runId !== '').then(() => takeOver(runId))
  }
  // Four are made at once. The last one follows when the first script has ended.
  const calls = [first, slow, slow, slow, last].map((name) => ({ name, args: {} }))
  model.answer((call) => (saysResults(call) ? answer : { calls }))
  runId = await runtime.start(asking(agentId))
  const run = await runtime.wait(runId)
  answering = async () => {}
  expect(run.status).toBe('completed')
  const key = (seq: number) => `${runId}:main:ask:1:${seq}`
  // The answer is recorded, and so is asked for once; the result of the first call is not.
  expect(pathsSeen()).toEqual([`/first ${key(2)}`, `/first ${key(2)}`, `/last ${key(6)}`])
  expect(model.calls).toHaveLength(2)
})

test.each([
  ['run', 'update runs set end_time = now(), status = $$failed$$ where id = $1'],
  ['visit', 'update step_records set end_time = now(), status = $$failed$$, error = $$no$$ where run_id = $1'],
])('a record for a %s that has ended is refused', async (_what, end) => {
  const { runId, attempt, row } = await waiting()
  await forge(database.sql, [runId])
  await database.sql.unsafe(end, [runId])
  expect(await recordCalls(runtime.ctx, attempt, row, [call(1)])).toBe('refused')
  expect(await kept(runId)).toEqual([])
})

test('a turn keeps the versions of its agent and its tools with which it began', async () => {
  const { id: tool } = await newTool('old')
  const { id: agentId } = await newAgent(
    runtime.ctx,
    { tools: [{ toolId: tool, version: 'latest' }], instructions: 'Old.' },
    model,
  )
  outside.seen.length = 0
  const calls = { calls: [{ name: tool, args: {} }] }
  const instructions: string[] = []
  model.answer(({ body }, index) => {
    instructions.push(body.messages[0].content)
    return [calls, { status: 503, headers: { 'retry-after-ms': '3000' } }, calls][index] ?? answer
  })
  const runId = await runtime.start(asking(agentId, { version: 'latest' }), {})
  await until(() => model.calls.length >= 2)
  await updateAgent(runtime.ctx, { id: agentId, body: { instructions: 'New.' } })
  await updateTool(runtime.ctx, {
    id: tool,
    body: { config: { method: 'POST', url: `${outside.url}/new`, body: '${args}' } },
  })
  const run = await runtime.wait(runId)
  expect(run.status).toBe('completed')
  expect(pathsSeen()).toEqual([`/old ${runId}:main:ask:1:2`, `/old ${runId}:main:ask:1:4`])
  expect(instructions.every((text) => text.includes('Old.'))).toBe(true)
  expect(run.stepExecutionHistory[0]).toMatchObject({ attempt: 2, usage: { version: 1, rounds: 2, toolCalls: 2 } })
})
