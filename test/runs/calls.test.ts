import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ServiceContext } from '@/server/context'
import { listCalls } from '@/server/runs/calls'
import { terminateRun } from '@/server/runs/terminate'
import { createTool } from '@/server/tools/lifecycle'
import { newAgent } from '../agents/support'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { type ModelServer, type Reply, startModelServer } from '../support/model'
import { startTestRuntime, type TestRuntime } from '../support/runtime'

const IBAN = 'nightjar-DE02-1203'
const ANSWER = { text: '{"item":"chairs","amount":12}' }

let database: FreshDatabase
let runtime: TestRuntime
let model: ModelServer
let key: ServiceContext
let person: ServiceContext
let tools: { sum: string; fail: string }
let agentId: string

beforeAll(async () => {
  database = await freshDatabase({ max: 10 })
  model = await startModelServer()
  runtime = await startTestRuntime(database.url, { ALLOW_PRIVATE_HOSTS: '127.0.0.1' })
  key = runtime.ctx
  person = { ...key, actor: { kind: 'user', id: 'usr_1', name: 'Viv', sessionId: 'ses_1', role: 'owner' } }
  const script = async (code: string) =>
    (await createTool(key, { name: 'Script', kind: 'script', config: { code } } as never)).id
  tools = { sum: await script('return args.a + args.b'), fail: await script('throw new Error("no luck")') }
  const prices = { input: 2, output: 4 }
  agentId = (
    await newAgent(key, {
      tools: Object.values(tools),
      model: { provider: 'openai-compatible', modelId: 'm', baseUrl: model.url, prices },
    })
  ).id
})
afterAll(async () => {
  await model?.close()
  await runtime?.stop()
  await database?.close()
})

const ask = (more: object = {}) => ({ id: 'ask', type: 'call-agent', agentId, message: 'x', ...more })
const whole = (step: object, more: object = {}) => ({
  ...{ steps: [step, { id: 'end', type: 'end-flow', output: {} }], edges: [{ from: 'ask', to: 'end' }] },
  ...more,
})
const sum = (a: unknown, b: unknown) => ({ name: tools.sum, args: { a, b } })

async function ended(definition: object, replies: Reply[], data: object = {}): Promise<string> {
  model.script(...replies)
  const runId = await runtime.start(definition, data)
  await runtime.wait(runId)
  return runId
}

test('the calls of a turn are in order, with what the model asked for and what it got', async () => {
  const replies = [{ calls: [sum(1, 2), { name: tools.fail, args: {} }] }, { calls: [sum(3, 4)] }, ANSWER]
  const runId = await ended(whole(ask()), replies)
  const { calls, next } = await listCalls(key, runId, {})
  const turnId = calls[0]?.turnId
  const at = { turnId, stepId: 'ask', visit: 1, startedAt: expect.any(String), endedAt: expect.any(String) }
  const usage = { inputTokens: 10, outputTokens: 5, totalTokens: 15 }
  const said = { ...at, kind: 'model', name: 'm', text: '', usage, cost: expect.closeTo(0.00004), errorCode: null }
  const tool = (seq: number, name: string) => ({ ...at, seq, kind: 'tool', name, toolCallId: expect.any(String) })
  expect(calls.sort((a, b) => a.seq - b.seq)).toEqual([
    { ...said, seq: 1 },
    { ...tool(2, tools.sum), args: { a: 1, b: 2 }, result: { success: true, value: 3 } },
    { ...tool(3, tools.fail), args: {}, result: { success: false, value: expect.stringContaining('no luck') } },
    { ...said, seq: 4 },
    { ...tool(5, tools.sum), args: { a: 3, b: 4 }, result: { success: true, value: 7 } },
    { ...said, seq: 6, text: ANSWER.text },
  ])
  expect(next).toBeNull()
})

test('pages have each call once, and a large page has fewer', async () => {
  const big = 'x'.repeat(90_000)
  const replies = [{ calls: Array.from({ length: 16 }, () => sum(big, big)) }]
  const large = await ended(whole(ask()), [...replies, ...replies, ANSWER])
  for (const [limit, least] of [
    ['7', 4],
    ['1000', 1],
  ] as const) {
    const seen: number[] = []
    let pages = 0
    for (let after: string | undefined; ; pages += 1) {
      const page = await listCalls(key, large, { limit, ...(after ? { after } : {}) })
      seen.push(...page.calls.map(({ seq }) => seq))
      if (page.next === null) break
      after = page.next
    }
    expect(seen.sort((a, b) => a - b)).toEqual(Array.from({ length: 35 }, (_, index) => index + 1))
    expect(pages).toBeGreaterThanOrEqual(least)
  }
})

test('calls can be asked for by step, visit and branch', async () => {
  model.answer(() => ANSWER)
  const loop = { id: 'loop', type: 'for-each', items: [1, 2, 3] }
  const definition = {
    steps: [loop, ask(), { id: 'end', type: 'end-flow', output: {} }],
    edges: [
      { from: 'loop', to: 'ask', on: 'each' },
      { from: 'loop', to: 'end', on: 'done' },
    ],
  }
  const runId = await runtime.start(definition)
  expect((await runtime.wait(runId)).status).toBe('completed')
  const all = await listCalls(key, runId, {})
  expect(all.calls.map(({ branch, iteration }) => [branch, iteration]).sort()).toEqual([
    ['loop#1/0', [0]],
    ['loop#1/1', [1]],
    ['loop#1/2', [2]],
  ])
  const asked = async (query: object) => (await listCalls(key, runId, query)).calls.map(({ branch }) => branch)
  expect(await asked({ stepId: 'ask', visit: '1', branch: 'loop#1/1' })).toEqual(['loop#1/1'])
  expect(await asked({ stepId: 'ask', visit: '1' })).toHaveLength(3)
  expect(await asked({ stepId: 'ask', visit: '2' })).toEqual([])
  expect(await asked({ stepId: 'other' })).toEqual([])
  await expect(listCalls(key, runId, { visit: 'x' })).rejects.toMatchObject({ code: 'INVALID_INPUT' })
})

test('calls of a turn that failed, and of one that is under way, are there too', async () => {
  const failed = await ended(whole(ask({ retry: { maxAttempts: 1 } })), [
    { calls: [sum(1, 2)] },
    { text: 'no' },
    { text: 'no' },
  ])
  const { calls } = await listCalls(key, failed, {})
  expect(calls.map((call) => [call.seq, call.kind, 'errorCode' in call ? call.errorCode : null])).toEqual([
    [1, 'model', null],
    [2, 'tool', null],
    [3, 'model', null],
    [4, 'model', 'OUTPUT_SCHEMA_MISMATCH'],
  ])
  model.script({ calls: [sum(1, 2)] }, { hang: true })
  const runId = await runtime.start(whole(ask()))
  await expect.poll(async () => (await listCalls(key, runId, {})).calls.map(({ seq }) => seq)).toEqual([1])

  await terminateRun(key, { runId })
})

test('people see no sensitive field in them, also not one of another run in the same thread; keys do', async () => {
  const hiding = whole(ask({ message: 'Pay to ${iban}', dataContext: { of: '${iban}' } }), {
    payload: { iban: { type: 'any', sensitive: true } },
  })
  const repeating = [{ calls: [sum(IBAN, { iban: IBAN })] }, { text: `{"item":"${IBAN}","amount":12}` }]
  const first = await ended(hiding, repeating, { iban: IBAN })
  const threadId = (await runtime.status(first)).stepExecutionHistory[0]?.usage?.threadId
  const second = await ended(whole(ask({ threadId })), repeating)
  const alone = await ended(whole(ask()), repeating)
  for (const runId of [first, second, alone]) {
    expect(JSON.stringify(await listCalls(key, runId, {}))).toContain(IBAN)
    const told = JSON.stringify(await listCalls(person, runId, {}))
    if (runId === alone) expect(told).toContain(IBAN)
    else expect(told).not.toContain(IBAN)
  }
  const [, tool, said] = (await listCalls(person, first, {})).calls
  expect(tool).toMatchObject({ args: { a: '***', b: { iban: '***' } }, result: { value: expect.any(String) } })
  expect(said).toMatchObject({ text: '{"item":"***","amount":12}' })
})

test('a run of another workspace, or out of a token’s reach, does not exist', async () => {
  const runId = await ended(whole(ask()), [ANSWER])
  const { workflowId } = await runtime.status(runId)
  const missing = { code: 'RUN_NOT_FOUND' }
  await expect(listCalls(await runtime.as('owner', 'ten_other'), runId, {})).rejects.toMatchObject(missing)
  await expect(listCalls(key, 'run_nobody', {})).rejects.toMatchObject(missing)
  const limited = (reach: object): ServiceContext => ({
    ...key,
    reach: { workflowIds: null, agentIds: null, ownRuns: false, ...reach },
  })
  await expect(listCalls(limited({ ownRuns: true }), runId, {})).rejects.toMatchObject(missing)
  await expect(listCalls(limited({ workflowIds: [] }), runId, {})).rejects.toMatchObject(missing)
  expect((await listCalls(limited({ workflowIds: [workflowId] }), runId, {})).calls).toHaveLength(1)
})
