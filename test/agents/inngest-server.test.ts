import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { cancelRun } from '@/server/runs/cancel'
import { resumeRun } from '@/server/runs/resume'
import { createTool } from '@/server/tools/lifecycle'
import { until } from '../engine/support'
import { type Outside, startOutside } from '../net/outside'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { type InngestProxy, startInngestProxy } from '../support/inngest-proxy'
import { startInngestRuntime } from '../support/inngest-runtime'
import { type ModelServer, startModelServer } from '../support/model'
import { type InngestServer, startInngest } from '../support/platform/inngest'
import type { TestRuntime } from '../support/runtime'
import { newAgent } from './support'

/*
 * Turns in parts, and questions about their calls, on the Inngest server that INNGEST_BASE_URL names, such as `inngest
 * dev --no-discovery --no-poll --retry-interval 1 --tick 10`; without it, on one in this process that speaks the same
 * protocol.
 */
const real = process.env.INNGEST_BASE_URL
/** A part ends when less than a call's time is left. */
const SETTINGS = { ALLOW_PRIVATE_HOSTS: '127.0.0.1', MILLRACE_TEST_STEP_MS: '2500', AGENT_TIMEOUT_MS: '1500' }
const PATIENCE_MS = 90_000

let database: FreshDatabase
let inngest: InngestServer | undefined
let proxy: InngestProxy
let runtime: TestRuntime
let model: ModelServer
let outside: Outside
let pay: string
/** How many answers to the server's calls are replaced by a failure. */
let failing = 0

beforeAll(async () => {
  database = await freshDatabase({ max: 20 })
  inngest = real ? undefined : await startInngest()
  proxy = await startInngestProxy(inngest?.url ?? real ?? '')
  outside = await startOutside((_seen, response) => {
    response.setHeader('content-type', 'application/json').end('{"ok":true}')
  })
  model = await startModelServer()
  runtime = await startInngestRuntime(database.url, { ...SETTINGS, ...settings() }, (answer) =>
    failing-- > 0 ? new Response('{}', { status: 500 }) : answer,
  )
  const config = { method: 'POST', url: `${outside.url}/pay`, body: '${args}' }
  pay = (await createTool(runtime.ctx, { name: 'Pay', kind: 'http', config })).id
})
beforeEach(() => {
  failing = 0
  proxy.reported.length = 0
  proxy.sent.length = 0
  outside.seen.length = 0
})
afterAll(async () => {
  await runtime?.stop()
  await proxy?.stop()
  await inngest?.stop()
  await outside?.stop()
  await model?.close()
  await database?.close()
})

/** The server behind the proxy; with keys, it is a self-hosted one. */
function settings(): Record<string, string> {
  const { INNGEST_EVENT_KEY = '', INNGEST_SIGNING_KEY = '' } = process.env
  const { eventKey = INNGEST_EVENT_KEY, signingKey = INNGEST_SIGNING_KEY } = inngest ?? {}
  if (!eventKey) return { INNGEST_DEV: proxy.url, INNGEST_BASE_URL: proxy.url }
  return { INNGEST_BASE_URL: proxy.url, INNGEST_EVENT_KEY: eventKey, INNGEST_SIGNING_KEY: signingKey }
}

const answer = { text: '{"item":"chairs","amount":12}' }
const wish = (n: number) => ({ name: pay, args: { n } })

async function start(approval?: unknown): Promise<string> {
  const tools = [{ toolId: pay, version: 'latest', ...(approval ? { approval } : {}) }]
  const limits = { turn: { rounds: 30, calls: 100 } }
  const { id: agentId } = await newAgent(runtime.ctx, { tools, limits }, model)
  return runtime.start({
    steps: [
      { id: 'ask', type: 'call-agent', agentId, message: 'x' },
      { id: 'end', type: 'end-flow' },
    ],
    edges: [{ from: 'ask', to: 'end' }],
  })
}

/** A slow model that makes a call in each of these rounds. */
function slowly(rounds: number): void {
  model.answer(({ body }) => {
    const round = body.messages.filter(({ role }: { role: string }) => role === 'assistant').length
    return { delayMs: 400, ...(round === rounds ? answer : { calls: [wish(round)] }) }
  })
}

const give = (runId: string, actionId: string, pauseId: string) =>
  resumeRun(runtime.ctx, { runId, body: { type: 'request_user_action', actionId, pauseId } })
/** The arguments of the calls that were made, with the numbers in their keys. */
const paid = () =>
  outside.seen.map(({ headers, body }) => [
    JSON.parse(body).n,
    Number(String(headers['idempotency-key']).split(':').at(-1)),
  ])
const asks = (runId: string, count: number) =>
  runtime.wait(runId, ({ status, pauseSignals }) => status === 'paused' && pauseSignals.length === count, PATIENCE_MS)

const kind = real ? `a real Inngest server (${real})` : 'an Inngest server (a stand-in: INNGEST_BASE_URL is not set)'

describe(`on ${kind}`, { timeout: 120_000 }, () => {
  test('a turn that takes longer than a step may goes on in parts, each a step of the engine, and makes no call twice', async () => {
    slowly(9)
    const run = await runtime.wait(await start(), undefined, PATIENCE_MS)
    expect(run.status).toBe('completed')
    expect(paid()).toEqual(Array.from({ length: 9 }, (_, n) => [n, 2 * n + 2]))
    expect(model.calls).toHaveLength(10)
    expect(run.stepExecutionHistory[0]).toMatchObject({ attempt: 1, usage: { usage: { totalTokens: 150 } } })
    const parts = proxy.reported.filter((name) => name.startsWith('ask#1'))
    expect(parts.length).toBeGreaterThan(2)
    expect(parts).toEqual(parts.map((_, n) => (n === 0 ? 'ask#1' : `ask#1+${n}`)))
  })

  test('a part whose end the server never heard of is begun again under the same id, and makes no call again', async () => {
    slowly(9)
    proxy.lose('ask#1+1')
    const runId = await start()
    await until(() => proxy.reported.includes('ask#1+1'), PATIENCE_MS)
    failing = 1
    const run = await runtime.wait(runId, undefined, PATIENCE_MS)
    expect(run.status).toBe('completed')
    expect(proxy.reported.filter((name) => name === 'ask#1+1')).toHaveLength(2)
    expect(paid()).toEqual(Array.from({ length: 9 }, (_, n) => [n, 2 * n + 2]))
    expect(model.calls).toHaveLength(10)
  })

  test.each([1, 2])('%i answers that come before the server knows that the walk rests are taken', async (count) => {
    model.script({ calls: Array.from({ length: count }, (_, n) => wish(n)) }, answer)
    const release = proxy.hold('ask#1')
    const runId = await start('always')
    const { pauseSignals } = await asks(runId, count)
    const before = proxy.sent.length
    await Promise.all(pauseSignals.map(({ id }) => give(runId, 'approve', id)))
    await until(() => proxy.sent.length > before, PATIENCE_MS)
    release()
    const run = await runtime.wait(runId, undefined, PATIENCE_MS)
    expect(run.status).toBe('completed')
    expect(paid()).toEqual(Array.from({ length: count }, (_, n) => [n, n + 2]))
    expect(model.calls).toHaveLength(2)
  })

  test('each answer continues the turn, and the last one ends it', async () => {
    model.script({ calls: [wish(0), wish(1), wish(2)] }, answer)
    const runId = await start('always')
    const { pauseSignals } = await asks(runId, 3)
    const [first = '', second = '', third = ''] = pauseSignals.map(({ id }) => id)
    await give(runId, 'approve', first)
    await until(() => outside.seen.length === 1, PATIENCE_MS)
    await asks(runId, 2)
    await give(runId, 'reject', second)
    await give(runId, 'approve', third)
    expect((await runtime.wait(runId, undefined, PATIENCE_MS)).status).toBe('completed')
    expect(paid()).toEqual([
      [0, 2],
      [2, 4],
    ])
    expect(model.calls).toHaveLength(2)
  })

  test('a question that nobody answers in time is rejected', async () => {
    model.script({ calls: [wish(0)] }, answer)
    const run = await runtime.wait(await start({ expiresIn: 'PT2S' }), undefined, PATIENCE_MS)
    expect([run.status, paid()]).toEqual(['completed', []])
  })

  test('after a cancel no call is made', async () => {
    model.script({ calls: [wish(0)] }, answer)
    const release = proxy.hold('ask#1')
    const runId = await start('always')
    const { pauseSignals } = await asks(runId, 1)
    await cancelRun(runtime.ctx, { runId })
    release()
    expect((await runtime.wait(runId, undefined, PATIENCE_MS)).outcome).toBe('cancelled')
    await expect(give(runId, 'approve', pauseSignals[0]?.id ?? '')).rejects.toMatchObject({ code: 'RUN_NOT_PAUSED' })
    expect(paid()).toEqual([])
  })
})
