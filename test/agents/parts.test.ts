import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createTool } from '@/server/tools/lifecycle'
import { until } from '../engine/support'
import { type Outside, startOutside } from '../net/outside'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { type ModelServer, startModelServer } from '../support/model'
import { startTestRuntime, type TestRuntime } from '../support/runtime'
import { newAgent } from './support'

const SETTINGS = { ALLOW_PRIVATE_HOSTS: '127.0.0.1', AGENT_TIMEOUT_MS: '1000' }

let database: FreshDatabase
let runtime: TestRuntime
let model: ModelServer
let outside: Outside
let free = () => {}
let tool: string

beforeAll(async () => {
  database = await freshDatabase()
  outside = await startOutside(async ({ url }, response) => {
    if (url === '/slow') await new Promise<void>((done) => (free = done))
    response.setHeader('content-type', 'application/json').end('{"ok":true}')
  })
  model = await startModelServer()
  runtime = await startTestRuntime(database.url, SETTINGS)
  tool = await newTool('pay')
})
beforeEach(() => {
  outside.seen.length = 0
})
afterAll(async () => {
  await runtime?.stop()
  await outside?.stop()
  await model?.close()
  await database?.close()
})

const newTool = async (path: string) => {
  const config = { method: 'POST', url: `${outside.url}/${path}`, body: '${args}' }
  return (await createTool(runtime.ctx, { name: path, kind: 'http', config })).id
}
const answer = { text: '{"item":"chairs","amount":12}' }
const call = (name: string, n: number) => ({ calls: [{ name, args: { n } }] })

async function start(tools: string[], step: object = {}): Promise<string> {
  const { id: agentId } = await newAgent(runtime.ctx, { tools }, model)
  return runtime.start({
    steps: [
      { id: 'ask', type: 'call-agent', agentId, message: 'x', ...step },
      { id: 'end', type: 'end-flow' },
    ],
    edges: [{ from: 'ask', to: 'end' }],
  })
}

test('a process that stops ends the part after the call under way, and another one makes the rest', async () => {
  const slow = await newTool('slow')
  model.script(call(slow, 1), call(tool, 2), answer)
  const runId = await start([slow, tool])
  await until(() => outside.seen.length > 0)
  const stopped = runtime.stop()
  free()
  await stopped
  expect(model.calls).toHaveLength(1)
  runtime = await startTestRuntime(database.url, SETTINGS)
  const run = await runtime.wait(runId)
  expect(run.status).toBe('completed')
  expect(outside.seen.map(({ url }) => url)).toEqual(['/slow', '/pay'])
  expect(model.calls).toHaveLength(3)
  // Nobody sees the part as an attempt.
  expect(run.stepExecutionHistory[0]).toMatchObject({ attempt: 1, usage: { usage: { totalTokens: 45 } } })
  expect(run.stepExecutionHistory[0]).not.toHaveProperty('attempts')
})

test('each answer of a model may take the time limit of a model, and the whole turn longer', async () => {
  const texts = ['{"item":"chairs"}', answer.text]
  model.script({ text: texts[0] ?? '', delayMs: 700 }, { text: texts[1] ?? '', delayMs: 700 })
  const run = await runtime.wait(await start([tool]))
  expect(run.stepExecutionHistory[0]).toMatchObject({ status: 'completed', attempt: 1, usage: { repaired: true } })
})

test('a failed attempt counts against the limit of a step although it came further', async () => {
  model.script(call(tool, 1), { hang: true }, { hang: true })
  const run = await runtime.wait(await start([tool], { retry: { maxAttempts: 2, initialDelayMs: 100 } }))
  expect(run.error).toMatchObject({ code: 'TRANSIENT' })
  expect(run.stepExecutionHistory[0]).toMatchObject({ attempt: 2, attempts: [{ attempt: 1 }, { attempt: 2 }] })
  expect(outside.seen).toHaveLength(1)
})

const lostAgain = (deaths: number) => database.sql`
  update engine.jobs set owner = 'gone', deliveries = ${deaths}, due_at = now() - interval '1 second' where kind = 'run'`

test('a turn whose process died five times goes on where it had recorded a call, and fails where it had none', async () => {
  const slow = await newTool('slow')
  model.script(call(tool, 1), call(slow, 2), answer)
  const runId = await start([slow, tool])
  await until(() => outside.seen.length === 2)
  await lostAgain(4)
  await database.sql`select pg_notify('engine', '')`
  // The call that was under way.
  await until(() => outside.seen.length === 3)
  free()
  const run = await runtime.wait(runId)
  expect(run.status).toBe('completed')
  const keys = outside.seen.map(({ headers }) => headers['idempotency-key'])
  expect(keys).toEqual([2, 4, 4].map((seq) => `${runId}:main:ask:1:${seq}`))
  expect(model.calls).toHaveLength(3)

  model.script({ hang: true })
  const another = await start([tool])
  await until(() => model.calls.length === 1)
  await lostAgain(4)
  await database.sql`select pg_notify('engine', '')`
  expect((await runtime.wait(another)).error).toMatchObject({ code: 'WORKER_LOST' })
})
