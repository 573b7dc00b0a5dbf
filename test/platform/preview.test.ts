import { afterAll, beforeAll, expect, test } from 'vitest'
import { Browser } from '../auth/browser'
import { onRealInngest, type Preview, runCommand, SETUP_TOKEN, seen, startPreview } from '../support/platform/preview'
import { startReceiver, verify } from '../support/receiver'

/*
 * With a real Inngest server's address in INNGEST_BASE_URL, and its keys, the deployment uses that one.
 */

/** Long enough for the process to be gone by then. */
const UNDO_MS = 6_000

let preview: Preview
beforeAll(async () => {
  preview = await startPreview({ ALLOW_PRIVATE_HOSTS: '127.0.0.1', ANSWER_UNDO_MS: String(UNDO_MS) })
})
afterAll(() => preview?.close())

const status = async (runId: string) =>
  (await preview.database.sql`select status from runs where id = ${runId}`)[0]?.status as string
const outbox = async () => Number((await preview.database.sql`select count(*) as n from outbox`)[0]?.n)
const ended = async () =>
  Number((await preview.database.sql`select count(*) as n from runs where status = 'completed'`)[0]?.n)

const asleep = () => seen(async () => preview.sleeps())

test('every event is sent before the process is suspended, so runs continue although nobody calls again', async () => {
  const before = await ended()
  // So that no call of Inngest wakes the process in between.
  const release = preview.inngest.hold()
  const { taken } = preview.inngest
  for (let i = 1; i <= 6; i++) {
    const from = taken.length
    const { status } = await preview.call('POST', '/api/workflow/start-async/wf_hello', { name: `caller ${i}` })
    expect(status).toBe(200)
    expect(await asleep(), preview.logs()).toBe(true)
    expect(taken.slice(from)).toEqual(['workflow/walk.requested'])
  }
  expect(await outbox()).toBe(0)
  await release()
  expect(await seen(async () => (await ended()) === before + 6), preview.logs()).toBe(true)
  expect(await asleep(), preview.logs()).toBe(true)
})

let browser: Browser

/** A call of the dashboard by the signed-in person. */
async function ask(path: string, body: object): Promise<Response> {
  const headers = browser.headers()
  headers.set('content-type', 'application/json')
  headers.set('sec-fetch-site', 'same-origin')
  return fetch(`${preview.url}/api/trpc/${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
}

test('the release step makes a workspace and reveals no secret, and its first owner needs the setup token', async () => {
  expect(preview.released).toContain('Created the first workspace ten_preview')
  expect(preview.released).not.toContain(preview.apiKey)
  const owner = { name: 'Ada', email: 'ada@example.com', password: 'a long password of hers', workspace: 'Acme' }
  browser = new Browser((request) => fetch(request), preview.url, '203.0.113.7')
  expect((await ask('auth.setup', { ...owner, token: 'not the token, but as long' })).status).toBe(403)
  expect((await ask('auth.setup', { ...owner, token: SETUP_TOKEN })).status).toBe(200)
  expect(await browser.signIn(owner.email, owner.password)).toMatchObject({ status: 200, error: null })

  // Events of actions on a screen are sent before the process sleeps, too.
  const release = preview.inngest.hold()
  const from = preview.inngest.taken.length
  const started = await ask('runs.start?tenant=acme', { workflowId: 'wf_hello', data: { name: 'Ada' } })
  expect(started.status, await started.text()).toBe(200)
  expect(await asleep()).toBe(true)
  expect(preview.inngest.taken.slice(from)).toEqual(['workflow/walk.requested'])
  await release()
})

async function pausedRun(): Promise<string> {
  const steps = [
    { id: 'ask', type: 'collect-inputs', output: { answer: { type: 'string' } }, next: 'end' },
    { id: 'end', type: 'end-flow' },
  ]
  const { body: workflow } = await preview.call('POST', '/api/workflows', { name: 'Asks', initialStep: 'ask', steps })
  const { body } = await preview.call('POST', `/api/workflow/start-async/${workflow.id}`, {})
  expect(await seen(async () => (await status(body.runId)) === 'paused'), preview.logs()).toBe(true)
  return body.runId as string
}
const answer = (runId: string) =>
  preview.call('POST', `/api/workflow/resume/${runId}`, { type: 'collect_inputs', data: { answer: 'yes' } })

test('a run pauses, is answered by another process and ends', async () => {
  const one = await pausedRun()
  const before = preview.coldStarts()
  // Until it has reported to the Inngest server that the run waits.
  expect(await asleep(), preview.logs()).toBe(true)
  await preview.discard()
  expect(await answer(one)).toMatchObject({ status: 200 })
  expect(preview.coldStarts()).toBe(before + 1)
  expect(await seen(async () => (await status(one)) === 'completed'), preview.logs()).toBe(true)
})

test('a held answer is given although the process that took it is gone and nobody calls the service', async () => {
  const runId = await pausedRun()
  const body = { type: 'collect_inputs', data: { answer: 'yes' } }
  const held = await ask('tasks.answer?tenant=acme', { runId, body })
  expect(await held.json()).toMatchObject({ result: { data: { undoMs: UNDO_MS } } })
  expect(await asleep(), preview.logs()).toBe(true)
  await preview.discard()
  expect(await status(runId)).toBe('paused')
  expect(await seen(async () => (await status(runId)) === 'completed'), preview.logs()).toBe(true)
})

test.skipIf(onRealInngest)(
  'after the Inngest server lost its state, `runs rewake` continues a run although nobody calls the service',
  async () => {
    const runId = await pausedRun()
    await preview.inngest.forget()
    expect(await answer(runId)).toMatchObject({ status: 200 })
    expect(await asleep(), preview.logs()).toBe(true)
    await runCommand(preview, 'runs', 'rewake', '--tenant', 'ten_preview', '--id', runId)
    expect(await seen(async () => (await status(runId)) === 'completed'), preview.logs()).toBe(true)
  },
)

test.skipIf(onRealInngest)(
  'the next request sends the events that `runs rewake` could not send to the Inngest server',
  async () => {
    const runId = await pausedRun()
    await preview.inngest.forget()
    expect(await answer(runId)).toMatchObject({ status: 200 })
    expect(await asleep(), preview.logs()).toBe(true)
    const unreachable = { ...preview, env: { ...preview.env, INNGEST_BASE_URL: 'http://127.0.0.1:9' } }
    const said = await runCommand(unreachable, 'runs', 'rewake', '--tenant', 'ten_preview', '--id', runId)
    expect(said).toContain('The Inngest server could not be notified')
    // The process is still warm from the answer, so it has polled a moment ago.
    expect((await preview.call('GET', '/api/health')).body).toMatchObject({ status: 'ok' })
    expect(await seen(async () => (await status(runId)) === 'completed'), preview.logs()).toBe(true)
  },
)

test('scripts run with the files that were deployed', async () => {
  const { status, body } = await preview.call('POST', '/api/tools/tool_greet/invoke', { args: { name: 'Ada' } })
  expect([status, body], preview.logs()).toMatchObject([
    200,
    { success: true, data: { greeting: expect.stringContaining('Hello') } },
  ])
})

test('a webhook gets the end of a run although nobody calls the service', async () => {
  const receiver = await startReceiver()
  const { body: webhook } = await preview.call('POST', '/api/webhooks', {
    url: receiver.url,
    events: ['run.started', 'run.completed'],
  })
  await preview.call('POST', '/api/workflow/start-async/wf_hello', { name: 'Ada' })
  expect(await seen(async () => receiver.taken.length === 2), preview.logs()).toBe(true)
  expect(receiver.taken.map(({ body }) => body.type)).toEqual(['run.started', 'run.completed'])
  for (const message of receiver.taken) verify(message, webhook.secret, new Date())
  expect(await asleep(), preview.logs()).toBe(true)
  await receiver.close()
})
