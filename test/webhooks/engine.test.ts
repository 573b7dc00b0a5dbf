import { afterAll, beforeAll, expect, test } from 'vitest'
import { resumeRun } from '@/server/runs/resume'
import { createWebhook } from '@/server/webhooks/create'
import { deliverDue } from '@/server/webhooks/deliver'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { type Receiver, startReceiver, verify } from '../support/receiver'
import { startTestRuntime, type TestRuntime } from '../support/runtime'

let database: FreshDatabase
let runtime: TestRuntime
let receiver: Receiver
let stuck: Receiver
let letGo = () => {}

beforeAll(async () => {
  database = await freshDatabase({ max: 20 })
  receiver = await startReceiver()
  const held = new Promise<number>((done) => {
    letGo = () => done(204)
  })
  stuck = await startReceiver(() => held)
  runtime = await startTestRuntime(database.url, { ALLOW_PRIVATE_HOSTS: '127.0.0.1' })
})
afterAll(async () => {
  letGo()
  await runtime?.stop()
  await receiver?.close()
  await stuck?.close()
  await database?.close()
})

const ASK = {
  steps: [
    { id: 'ask', type: 'collect-inputs', output: { answer: { type: 'string' } } },
    { id: 'end', type: 'end-flow', output: { said: '${answer}' } },
  ],
  edges: [{ from: 'ask', to: 'end' }],
}
const EVENTS = ['run.started', 'run.paused', 'run.completed', 'run.failed']
const told = (runId: string) => receiver.taken.filter(({ body }) => body.data.runId === runId)

test('the engine delivers a run’s events as they happen, however slow another endpoint is', async () => {
  await createWebhook(runtime.ctx, { url: stuck.url, events: EVENTS })
  const { secret } = await createWebhook(runtime.ctx, { url: receiver.url, events: EVENTS })
  const runId = await runtime.start(ASK)
  await expect.poll(() => told(runId).length).toBe(2)
  await resumeRun(runtime.ctx, { runId, body: { type: 'collect_inputs', data: { answer: 'yes' } } })
  await expect.poll(() => told(runId).length).toBe(3)
  for (const message of told(runId)) verify(message, secret, new Date())
  expect(told(runId).map(({ body }) => [body.type, body.data])).toMatchObject([
    ['run.started', { status: 'running' }],
    ['run.paused', { status: 'paused', pauseSignal: { type: 'collect_inputs', stepId: 'ask' } }],
    ['run.completed', { status: 'completed', outcome: 'succeeded', result: { said: 'yes' } }],
  ])
  // The other endpoint still has the first one.
  expect(stuck.attempts).toHaveLength(1)
})

test('a run that begins and ends in one statement reports both, in order', async () => {
  const runId = await runtime.start({ steps: [{ id: 'end', type: 'end-flow' }] })
  await expect.poll(() => told(runId).map(({ body }) => body.type)).toEqual(['run.started', 'run.completed'])
  const failing = await runtime.start({ steps: [{ id: 'fail', type: 'fail-flow', code: 'NO', message: 'no' }] })
  await expect.poll(() => told(failing).map(({ body }) => body.type)).toEqual(['run.started', 'run.failed'])
})

test('a message that did not arrive is tried again when it is due, not when the next sweep comes', async () => {
  // No sweep runs.
  await database.sql`delete from engine.jobs where kind = 'cron'`
  const flaky = await startReceiver(() => (flaky.attempts.length === 1 ? 500 : 204))
  const { id } = await createWebhook(runtime.ctx, { url: flaky.url, events: ['run.failed'] })
  // An attempt of a minute ago, so that its first wait is over in a second.
  const ago = { ...runtime.ctx, now: () => new Date(Date.now() - 59_000) }
  await database.sql`
    insert into webhook_deliveries (tenant_id, id, endpoint_id, type, body, created_at, due_at)
    values (${runtime.ctx.tenantId}, 'dlv_flaky', ${id}, 'test', '{}', ${ago.now()}, ${ago.now()})`
  await deliverDue(ago, id)
  expect(flaky.attempts).toHaveLength(1)
  await expect.poll(() => flaky.taken.length, { timeout: 20_000 }).toBe(1)
  await flaky.close()
})
