import { afterAll, beforeAll, expect, test } from 'vitest'
import { createAgent } from '@/server/agents/lifecycle'
import { database as processDatabase } from '@/server/database'
import { resumeRun } from '@/server/runs/resume'
import { startAndWait } from '@/server/runs/start-and-wait'
import { archiveTool, createTool, updateTool } from '@/server/tools/lifecycle'
import { runTool } from '@/server/tools/run'
import { createWorkflow, publishWorkflow } from '@/server/workflows/lifecycle'
import { until } from '../engine/support'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { type EffectServer, startEffects } from '../support/effects'
import { type ModelServer, type Reply, startModelServer } from '../support/model'
import { startTestRuntime, type TestRuntime } from '../support/runtime'

// The cost of a run is counted, not timed: statements, and the commits among them.

let database: FreshDatabase
let runtime: TestRuntime
let effects: EffectServer
let model: ModelServer
/** While a run is counted: this process's statements that name its tables. */
let statements: string[] | null = null

beforeAll(async () => {
  database = await freshDatabase({ max: 20 })
  effects = await startEffects(({ path }) => ({ body: { path } }))
  model = await startModelServer()
  runtime = await startTestRuntime(database.url, { ALLOW_PRIVATE_HOSTS: '127.0.0.1' })
  const { sql, db } = processDatabase()
  const debug = (_connection: number, text: string) => statements?.push(text)
  for (const { options } of [sql, db.$client.rows]) Object.assign(options, { debug })
})
afterAll(async () => {
  await runtime.stop()
  await effects.stop()
  await model.close()
  await database.close()
})

/** A process's periodic statements: its heartbeat, its polls for work, its sweeps, and the removal of finished work. */
const OWN = /engine\.workers|json_array_elements_text|for update skip locked|delete from engine\.jobs/
/** The statement with which an attempt verifies that it may begin. */
const LOOK = /from "runs" inner join "walks".* left join "step_records"/

/** A started run, counted until it has ended or paused. Sweeps and polls of the process are not its own. */
async function counted(work: () => Promise<unknown>): Promise<{ records: number; locks: number; walks: string[] }> {
  statements = []
  await work()
  const seen = statements
  statements = null
  const walks = seen.filter((text) => !OWN.test(text))
  return {
    records: walks.filter((text) => text.includes('step_records') && !/^\s*select/i.test(text)).length,
    locks: walks.filter((text) => /for update\s*$/.test(text)).length,
    walks,
  }
}

async function published(steps: { id: string; type: string }[]): Promise<string> {
  const { id } = await createWorkflow(runtime.ctx, {
    name: 'Counted',
    steps,
    edges: steps.slice(1).map((step, index) => ({ from: steps[index]?.id, to: step.id })),
  })
  await publishWorkflow(runtime.ctx, { id })
  return id
}

const start = async (workflowId: string) => {
  const { run } = await startAndWait(runtime.ctx, {
    workflowId,
    body: {},
    prefer: null,
    signal: new AbortController().signal,
  })
  return run
}

test('a run of five steps is six statements and six commits: no lock of its own, and no read before an effect', async () => {
  const ids = ['a', 'b', 'c', 'd', 'e']
  const workflowId = await published([
    ...ids.map((id) => ({ id, type: 'test-effect' })),
    { id: 'end', type: 'end-flow' },
  ])
  expect((await start(workflowId)).status).toBe('completed')
  let run = { records: 0, locks: 0, walks: [] as string[] }
  const once = async () => {
    run = await counted(async () => expect((await start(workflowId)).status).toBe('completed'))
    return run.walks
  }
  // The start, which begins the first step, and each of the five that follow. Each is its own transaction. The caller
  // is answered from memory, and the engine's jobs are removed together with those of other runs. On a busy machine an
  // effect may be late and then be looked up, and a wait may poll; then the test counts another run.
  await expect.poll(once).toHaveLength(6)
  const { records, locks, walks } = run
  expect(walks.filter((text) => LOOK.test(text))).toEqual([])
  expect(records, walks.join('\n')).toBe(6)
  expect(locks, walks.join('\n')).toBe(0)
})

test('sixteen runs that start together share most of their statements and commits', async () => {
  const ids = ['a', 'b', 'c', 'd', 'e']
  const workflowId = await published([
    ...ids.map((id) => ({ id, type: 'test-effect' })),
    { id: 'end', type: 'end-flow' },
  ])
  const all = async () => {
    const runs = await Promise.all(Array.from({ length: 16 }, () => start(workflowId)))
    expect(runs.map(({ status }) => status)).toEqual(runs.map(() => 'completed'))
  }
  await all()
  // One by one they would be 96.
  await expect.poll(async () => (await counted(all)).records).toBeLessThanOrEqual(32)
})

test('a run that only computes is written whole with its start', async () => {
  const workflowId = await published([{ id: 'end', type: 'end-flow' }])
  expect((await start(workflowId)).status).toBe('completed')
  const once = async () => {
    const { records, walks } = await counted(async () => expect((await start(workflowId)).status).toBe('completed'))
    return { records, statements: walks.length }
  }
  // A sweep of the process may fall into the count; then the test counts another run.
  await expect.poll(once).toEqual({ records: 1, statements: 1 })
})

test('an answer is taken, and the run ended, in one statement', async () => {
  const workflowId = await published([
    { id: 'ask', type: 'request-user-action', actions: [{ id: 'ok', label: 'OK' }] } as never,
    { id: 'end', type: 'end-flow' },
  ])
  const answer = (runId: string) =>
    resumeRun(runtime.ctx, { runId, body: { type: 'request_user_action', actionId: 'ok' } })
  const first = await start(workflowId)
  await answer(first.runId)
  await runtime.wait(first.runId)
  const once = async () => {
    const { runId } = await start(workflowId)
    const { records } = await counted(async () => {
      await answer(runId)
      const ended = () => database.sql`select 1 from runs where id = ${runId} and end_time is not null`
      await until(async () => (await ended()).length === 1)
    })
    return records
  }
  // As above.
  await expect.poll(once).toBe(1)
})

const ANSWERS = { type: 'object', properties: { item: { type: 'string' } }, required: ['item'] }

/** The statements of a run that asks an agent, without those of any other run of a step. */
async function countedTurn(tools: string[], ...replies: Reply[]) {
  const settings = { provider: 'openai-compatible', modelId: 'm', baseUrl: model.url }
  const agent = { name: 'A', instructions: 'x', model: settings, outputSchema: ANSWERS, tools }
  const { id: agentId } = await createAgent(runtime.ctx, agent)
  const workflowId = await published([
    { id: 'ask', type: 'call-agent', agentId, message: 'x' },
    { id: 'end', type: 'end-flow' },
  ] as never)
  const answered = async () => {
    model.script(...replies, { text: '{"item":"chairs"}' })
    expect((await start(workflowId)).data).toEqual({ item: 'chairs' })
  }
  await answered()
  return async () => {
    const { walks } = await counted(answered)
    const calls = walks.filter((text) => text.includes('agent_calls')).length
    // Other than the start, and the record of the step.
    return { calls, all: walks.length - 2 }
  }
}

test('a turn without tools is recorded in one statement with its thread and messages, and reads no journal', async () => {
  // The agent, and the end of the turn.
  await expect.poll(await countedTurn([])).toEqual({ calls: 1, all: 2 })
})

test('an answer that asks for calls is one statement, and so is a call that reaches outside; one that computes is none', async () => {
  const { ctx } = runtime
  const sums = await createTool(ctx, { name: 'Sum', kind: 'script', config: { code: 'return args.n + 1' } })
  const page = await createTool(ctx, { name: 'Page', kind: 'http', config: { url: `${effects.url}page` } })
  const sum = { name: sums.id, args: { n: 1 } }
  const computing = await countedTurn([sums.id], { calls: [sum, sum] }, { calls: [sum] })
  await expect.poll(async () => (await computing()).calls).toBe(3)
  const outside = await countedTurn([page.id], { calls: [1, 2, 3].map((n) => ({ name: page.id, args: { n } })) })
  await expect.poll(async () => (await outside()).calls).toBe(5)
})

test('a call of a tool reads it in one statement, so it never sees a row and a version that do not belong together', async () => {
  const config = { code: 'return args.n + 1' }
  const { id } = await createTool(runtime.ctx, { name: 'Add', kind: 'script', config })
  const seen: string[] = []
  statements = seen
  const outcome = await runTool(
    runtime.ctx,
    { toolId: id, args: { n: 1 }, dataContext: {} },
    { signal: new AbortController().signal },
  )
  statements = null
  expect(outcome).toMatchObject({ success: true, data: 2 })
  expect(seen.filter((text) => /\btools?\b/.test(text) || text.includes('tool_versions'))).toHaveLength(1)
})

test('a run calls a tool that its process knows without reading it, and as it is when the call begins', async () => {
  const tool = await createTool(runtime.ctx, {
    name: 'Page',
    kind: 'http',
    config: { method: 'GET', url: `${effects.url}one`, result: 'json' },
  })
  const workflowId = await published([
    { id: 'a', type: 'call-tool', toolId: tool.id, version: 'latest' },
    { id: 'b', type: 'call-tool', toolId: tool.id, version: 'latest' },
    { id: 'end', type: 'end-flow' },
  ] as never)
  const results = async () => (await start(workflowId)).data
  expect(await results()).toMatchObject({ path: '/one' })
  const reads = async () => {
    const { walks } = await counted(results)
    return walks.filter((text) => text.includes('tool_versions')).length
  }
  await expect.poll(reads).toBe(0)

  await updateTool(runtime.ctx, {
    id: tool.id,
    body: { config: { method: 'GET', url: `${effects.url}two`, result: 'json' } },
  })
  expect(await results()).toMatchObject({ path: '/two' })
  await expect.poll(reads).toBe(0)
  await archiveTool(runtime.ctx, { id: tool.id })
  expect((await start(workflowId)).error).toMatchObject({ code: 'TOOL_NOT_FOUND' })
})
