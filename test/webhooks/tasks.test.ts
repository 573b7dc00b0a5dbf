import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { ServiceContext } from '@/server/context'
import { createMember } from '@/server/members/create'
import { claimTask } from '@/server/runs/claim'
import { sweepReminders } from '@/server/runs/remind'
import { resumeRun } from '@/server/runs/resume'
import { createWebhook } from '@/server/webhooks/create'
import { getWebhook } from '@/server/webhooks/list'
import { sweepOverdue } from '@/server/webhooks/overdue'
import { slackBody } from '@/server/webhooks/slack'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { type Receiver, startReceiver } from '../support/receiver'
import { startTestRuntime, type TestRuntime } from '../support/runtime'
import { type MailServer, startMailServer } from '../support/smtp'

let database: FreshDatabase
let receiver: Receiver
let mails: MailServer
let runtime: TestRuntime
let status = 200
const pauseId = 'main:ok#1'

beforeAll(async () => {
  receiver = await startReceiver(() => status)
  mails = await startMailServer()
  database = await freshDatabase()
  runtime = await startTestRuntime(database.url, {
    ALLOW_PRIVATE_HOSTS: `127.0.0.1:${receiver.port}`,
    ENCRYPTION_KEY: 'ab'.repeat(32),
    PUBLIC_URL: 'https://millrace.example.com',
    SMTP_URL: mails.url,
    MAIL_FROM: 'Tasks <tasks@example.com>',
  })
  const events = ['run.paused', 'task.assigned', 'task.overdue', 'task.reminded', 'run.completed']
  await createWebhook(runtime.ctx, { url: receiver.url, events })
})
afterAll(async () => {
  await runtime?.stop()
  await mails?.close()
  await receiver?.close()
  await database?.close()
})
beforeEach(() => {
  receiver.taken.length = 0
})

async function person(name: string): Promise<ServiceContext> {
  const email = `${name.toLowerCase()}@example.com`
  const { userId } = await createMember(runtime.ctx, { email, name, role: 'operator', password: 'a-long-password' })
  return { ...runtime.ctx, actor: { kind: 'user', id: userId, name, sessionId: 's', role: 'operator' } }
}

async function paused(rules: object): Promise<string> {
  const ask = { id: 'ok', type: 'request-user-action', title: 'Order 17', actions: [{ id: 'yes', label: 'Yes' }] }
  const runId = await runtime.start({ name: 'Order', steps: [{ ...ask, ...rules }] })
  await runtime.wait(runId, (run) => run.status === 'paused')
  return runId
}
const told = (runId: string) =>
  receiver.taken.filter(({ body }) => (body.data as { runId: string }).runId === runId).map(({ body }) => body)
const toldTypes = (runId: string, types: string[]) =>
  expect.poll(() => told(runId).map(({ type }) => type), { timeout: 20_000 }).toEqual(types)
/** As if it had been due an hour ago. */
const makeLate = (runId: string) => database.sql`
  update pauses set signal = jsonb_set(signal::jsonb, '{dueAt}', to_jsonb(${new Date(Date.now() - 3_600_000).toISOString()}::text))::json
  where run_id = ${runId}`
const sweep = () => sweepOverdue({ db: database.db, log: runtime.ctx.log, now: () => new Date() })
const sweepIn = (hours: number) =>
  sweepReminders({
    ...{ db: database.db, log: runtime.ctx.log },
    now: () => new Date(Date.now() + hours * 3_600_000 + 60_000),
  })
const answer = (runId: string) =>
  resumeRun(runtime.ctx, {
    ...{ runId, pauseId },
    body: { type: 'request_user_action', actionId: 'yes', actionValue: 'Yes' },
  })

test('a task is reported when the workflow names people, and when it is given to a member', async () => {
  const [tess, tom] = [await person('Tess'), await person('Tom')]
  const runId = await paused({ assignees: ['user:tess@example.com', 'role:operator'] })
  await toldTypes(runId, ['run.paused', 'task.assigned'])
  expect(told(runId)[1]?.data).toMatchObject({
    ...{ runId, status: 'paused', givenTo: null },
    pauseSignal: { title: 'Order 17', assignees: ['user:tess@example.com', 'role:operator'] },
  })
  // A member who takes it needs no notification.
  await claimTask(tess, { runId, pauseId, to: tess.actor.id, from: null })
  await claimTask(tess, { runId, pauseId, to: tom.actor.id, from: tess.actor.id })
  await toldTypes(runId, ['run.paused', 'task.assigned', 'task.assigned'])
  expect(told(runId)[2]?.data).toMatchObject({ givenTo: 'user:tom@example.com' })
  await answer(runId)
  await toldTypes(runId, ['run.paused', 'task.assigned', 'task.assigned', 'run.completed'])
})

test('a task that anybody may answer is assigned to nobody', async () => {
  const runId = await paused({})
  await answer(runId)
  await toldTypes(runId, ['run.paused', 'run.completed'])
})

test('a late task is reported once, however many sweep at once; one that was answered in time, never', async () => {
  const late = await paused({ dueIn: 'P1D' })
  const inTime = await paused({ dueIn: 'P1D' })
  expect((await sweep()).notified).toBe(0)
  await answer(inTime)
  await makeLate(late)
  await makeLate(inTime)
  await Promise.all([sweep(), sweep(), sweep()])
  await toldTypes(late, ['run.paused', 'task.overdue'])
  expect(told(late)[1]?.data).toMatchObject({ status: 'paused', pauseSignal: { title: 'Order 17' } })
  expect((await sweep()).notified).toBe(0)
  await answer(late)
  await toldTypes(late, ['run.paused', 'task.overdue', 'run.completed'])
  await toldTypes(inTime, ['run.paused', 'run.completed'])
})

test('each reminder is reported, and then that others have the task', async () => {
  const reminders = { after: 'PT1H', every: 'PT1H', times: 2, handTo: ['role:owner'] }
  const runId = await paused({ assignees: ['user:tess@example.com'], reminders })
  const before = ['run.paused', 'task.assigned']
  await toldTypes(runId, before)
  await Promise.all([sweepIn(1), sweepIn(1)])
  await toldTypes(runId, [...before, 'task.reminded'])
  const [to, number] = [['user:tess@example.com'], 1]
  expect(told(runId)[2]?.data).toMatchObject({
    ...{ status: 'paused', pauseSignal: { title: 'Order 17', reminders }, reminders: [{ to, number, times: 2 }] },
  })
  await sweepIn(3)
  await sweepIn(5)
  const handed = [...before, 'task.reminded', 'task.reminded', 'task.assigned']
  await toldTypes(runId, handed)
  expect(told(runId)[4]?.data).toMatchObject({
    ...{ givenTo: null, pauseSignal: { assignees: ['role:owner'] } },
    reminders: [{ number: 1 }, { number: 2 }, { handedTo: ['role:owner'], from: to, after: 2 }],
  })
  expect(told(runId)[4]?.data).not.toHaveProperty('pauseSignal.remindAt')
  await answer(runId)
  await toldTypes(runId, [...handed, 'run.completed'])
})

test('a task that is handed over is given to nobody, even if a member to whom it was given before keeps it', async () => {
  const [una, uwe] = [await person('Una'), await person('Uwe')]
  const assignees = ['user:una@example.com', 'user:uwe@example.com']
  const handTo = ['user:uwe@example.com', 'role:owner']
  const runId = await paused({ assignees, reminders: { after: 'PT1H', handTo } })
  // A message says what is so when it is sent.
  await toldTypes(runId, ['run.paused', 'task.assigned'])
  await claimTask(una, { runId, pauseId, to: uwe.actor.id, from: null })
  const before = ['run.paused', 'task.assigned', 'task.assigned']
  await toldTypes(runId, before)
  await sweepIn(1)
  await toldTypes(runId, [...before, 'task.reminded'])
  await sweepIn(3)
  await toldTypes(runId, [...before, 'task.reminded', 'task.assigned'])
  const given = told(runId).flatMap(({ type, data }) => (type === 'task.assigned' ? [data] : []))
  expect(given).toMatchObject([{ givenTo: null }, { givenTo: 'user:uwe@example.com' }, { givenTo: null }])
  await answer(runId)
  await toldTypes(runId, [...before, 'task.reminded', 'task.assigned', 'run.completed'])
})

test('a late task that a process of the release before finds is reported too', async () => {
  const runId = await paused({})
  await database.sql`
    select webhook_tell(tenant_id, run_id, id, 'task.overdue') from pauses where run_id = ${runId}`
  await toldTypes(runId, ['run.paused', 'task.overdue'])
  await answer(runId)
  await toldTypes(runId, ['run.paused', 'task.overdue', 'run.completed'])
})

test('a chat gets it in its own format', () => {
  const run = { runId: 'run_1', workflowName: 'Order', businessKey: 'A-17', startedVia: 'apiKey' }
  const of = (type: string, more = {}) =>
    JSON.parse(slackBody(type, { ...run, pauseSignal: { id: pauseId, title: 'Check it' }, ...more }))
  expect(of('task.overdue').text).toBe('Order A-17 waits for an answer that is overdue: *Check it*')
  const at = '2026-03-01T05:00:00.000Z'
  const first = { at, to: ['user:tom@example.com', 'role:admin'], number: 2, times: 3 }
  const reminded = of('task.reminded', { reminders: [first] })
  expect(reminded.text).toBe('Order A-17 still waits for an answer: *Check it*')
  expect(JSON.stringify(reminded.blocks)).toContain(
    'Reminded tom@example.com, anybody with the role admin or higher (2 of 3)',
  )
  const handed = { at, handedTo: ['role:owner'], from: null, after: 1 }
  expect(JSON.stringify(of('task.assigned', { reminders: [first, handed] }).blocks)).toContain(
    'Handed to any owner after one reminder',
  )
  const given = of('task.assigned', { givenTo: 'user:tom@example.com' })
  expect(given.text).toBe('Order A-17 has a task: *Check it*')
  expect(JSON.stringify(given.blocks)).toContain('Given to tom@example.com')
})

test('the owners hear by mail that a webhook is disabled, without the secrets in its address', async () => {
  await createMember(runtime.ctx, {
    ...{ email: 'olga@example.com', name: 'Olga', role: 'owner', password: 'a-long-password' },
  })
  const url = `${receiver.url}?token=do-not-tell`
  const { id } = await createWebhook(runtime.ctx, { url, events: ['run.started'] })
  status = 410
  try {
    const runId = await paused({})
    await expect.poll(async () => (await getWebhook(runtime.ctx, { id })).enabled, { timeout: 20_000 }).toBe(false)
    const mine = () => mails.taken.filter(({ to }) => JSON.stringify(to).includes('olga@example.com'))
    await expect.poll(() => mine().length, { timeout: 20_000 }).toBeGreaterThan(0)
    const said = JSON.stringify(mine())
    expect(said).toContain('Webhook disabled')
    expect(said).toContain('https://millrace.example.com/')
    expect(said).not.toContain('do-not-tell')
    await answer(runId)
  } finally {
    status = 200
  }
})
