import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { updateAgent } from '@/server/agents/lifecycle'
import { rerunRun } from '@/server/runs/rerun'
import { retryRun } from '@/server/runs/retry'
import { createTool } from '@/server/tools/lifecycle'
import { type Outside, startOutside } from '../net/outside'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { type ModelServer, startModelServer } from '../support/model'
import { startTestRuntime, type TestRuntime } from '../support/runtime'
import { newAgent } from './support'

let database: FreshDatabase
let runtime: TestRuntime
let model: ModelServer
let outside: Outside
let holds = false
let tool: string
let agentId: string

beforeAll(async () => {
  database = await freshDatabase()
  outside = await startOutside((_seen, response) => {
    if (!holds) response.setHeader('content-type', 'application/json').end('{"ok":true}')
  })
  model = await startModelServer()
  runtime = await startTestRuntime(database.url, { ALLOW_PRIVATE_HOSTS: '127.0.0.1' })
  const config = { method: 'POST', url: `${outside.url}/pay`, body: '${args}' }
  tool = (await createTool(runtime.ctx, { name: 'Pay', kind: 'http', config })).id
})
beforeEach(async () => {
  holds = false
  outside.seen.length = 0
  agentId = (await newAgent(runtime.ctx, { tools: [tool] }, model)).id
})
afterAll(async () => {
  await runtime?.stop()
  await outside?.stop()
  await model?.close()
  await database?.close()
})

const answer = { text: '{"item":"chairs","amount":12}' }
const pay = (n: number) => ({ calls: [{ name: tool, args: { n } }] })
const paid = (of: string) =>
  outside.seen.map(({ headers, body }) => `${String(headers['idempotency-key']).replace(of, 'old')} ${body}`)

async function failed(step: object = {}): Promise<string> {
  const runId = await runtime.start({
    steps: [
      { id: 'before', type: 'set-data', values: { on: true } },
      { id: 'ask', type: 'call-agent', agentId, message: 'x', retry: { maxAttempts: 1 }, ...step },
      { id: 'end', type: 'end-flow' },
    ],
    edges: [
      { from: 'before', to: 'ask' },
      { from: 'ask', to: 'end' },
    ],
  })
  expect((await runtime.wait(runId)).status).toBe('failed')
  return runId
}

const retried = async (runId: string) => runtime.wait((await retryRun(runtime.ctx, { runId })).runId)

test('a retry continues a turn that was cut short, with the present version of its agent, and pays only for the rest', async () => {
  model.script(pay(1), { status: 400 })
  const old = await failed()
  await updateAgent(runtime.ctx, { id: agentId, body: { instructions: 'New.' } })
  model.script(answer)
  const run = await retried(old)
  expect(run).toMatchObject({
    status: 'completed',
    data: { item: 'chairs' },
    stepExecutionHistory: [{}, { usage: { version: 2, rounds: 1, toolCalls: 1, usage: { totalTokens: 15 } } }, {}],
  })
  expect(paid(old)).toEqual(['old:main:ask:1:2 {"n":1}'])
  expect(model.calls[0]?.body.messages[0].content).toContain('New.')
  expect(model.calls[0]?.body.messages.map(({ role }: { role: string }) => role)).toContain('tool')
})

test('two retries send the key of a call that was under way again, and their own for their own calls', async () => {
  holds = true
  model.script(pay(1))
  const old = await failed({ timeoutMs: 5_000 })
  holds = false
  model.script(pay(2), answer)
  const one = await retried(old)
  model.script(pay(3), answer)
  const two = await retried(old)
  expect([one.status, two.status]).toEqual(['completed', 'completed'])
  expect(paid(old)).toEqual([
    'old:main:ask:1:2 {"n":1}',
    'old:main:ask:1:2 {"n":1}',
    `${one.runId}:main:ask:1:4 {"n":2}`,
    'old:main:ask:1:2 {"n":1}',
    `${two.runId}:main:ask:1:4 {"n":3}`,
  ])
})

test('a retry of a retry has all calls of both', async () => {
  model.script(pay(1), { status: 400 })
  const old = await failed()
  model.script(pay(2), { status: 400 })
  const next = await retried(old)
  expect(next.status).toBe('failed')
  model.script(answer)
  expect((await retried(next.runId)).status).toBe('completed')
  expect(outside.seen).toHaveLength(2)
  expect(model.calls[0]?.body.messages.filter(({ role }: { role: string }) => role === 'tool')).toHaveLength(2)
})

test('a turn that came to its end starts anew, and so does every rerun', async () => {
  model.script(pay(1), { text: 'no' }, { text: 'no' })
  const mismatched = await failed()
  model.script(pay(2), answer)
  expect((await retried(mismatched)).status).toBe('completed')
  expect(outside.seen).toHaveLength(2)
  model.script(pay(3), { status: 400 })
  const cut = await failed()
  model.script(pay(4), answer)
  const { runId } = await rerunRun(runtime.ctx, { runId: cut, body: {} } as never)
  expect((await runtime.wait(runId)).status).toBe('completed')
  expect(outside.seen).toHaveLength(4)
})
