import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Answer, type CallOptions, call, TEST_ENV } from '../support/api'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { startWeb, type Web } from '../support/service'

const GRACE_MS = 1_500
/** Far less than the minute after which a sweep would find it. */
const PROMPT = { timeout: 15_000 }
const ENV = { ...TEST_ENV, CANCEL_GRACE_MS: String(GRACE_MS), MILLRACE_HOST_ID: 'host_of_this_test' }

interface Call {
  key: string
  path: string
  /** When the caller hung up, if it did before the answer. */
  droppedAt?: number
}

let database: FreshDatabase
let web: Web
let other: Web
let world: Server
let worldUrl: string
const calls: Call[] = []
const hold = new Set<string>()

beforeAll(async () => {
  world = createServer(async (request, response) => {
    const seen: Call = { key: String(request.headers['idempotency-key']), path: request.url ?? '' }
    calls.push(seen)
    request.resume()
    let answered = false
    response.on('close', () => {
      if (!answered) seen.droppedAt = Date.now()
    })
    const until = Date.now() + Number(seen.path.split('/')[2] ?? 0)
    while (Date.now() < until || hold.has(seen.path)) await sleep(10)
    answered = true
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  })
  await new Promise<void>((resolve) => world.listen(0, '127.0.0.1', resolve))
  worldUrl = `http://127.0.0.1:${(world.address() as AddressInfo).port}`
  database = await freshDatabase()
  web = await startWeb({ databaseUrl: database.url, env: ENV })
  other = await startWeb({ ...same(), env: { ...ENV, MILLRACE_HOST_ID: 'host_of_another' } })
})

afterAll(async () => {
  hold.clear()
  await Promise.all([web?.stop(), other?.stop()])
  world?.closeAllConnections()
  world?.close()
  await database?.close()
})

const same = () => ({ databaseUrl: database.url, tenantId: web.tenantId, apiKey: web.apiKey })
const effect = (id: string, path: string) => ({ id, type: 'test-effect', url: `${worldUrl}${path}` })
const ask = { id: 'ask', type: 'collect-inputs', output: { n: { type: 'number' } } }
const callsOf = (runId: string) => calls.filter(({ key }) => key.startsWith(runId))

function on(target: Web, method: string, path: string, body?: unknown, options?: CallOptions): Promise<Answer> {
  return call(target, method, path, body, options)
}

async function start(definition: object): Promise<string> {
  const created = await on(web, 'POST', '/api/workflows', { name: 'Control', ...definition })
  const started = await on(web, 'POST', `/api/workflow/start-async/${created.body.id}`, {})
  expect(started.status).toBe(200)
  return started.body.runId
}

async function until(runId: string, holds: (run: Answer['body']) => boolean, timeoutMs = 60_000, target = web) {
  for (const deadline = Date.now() + timeoutMs; ; await sleep(30)) {
    const { body } = await on(target, 'GET', `/api/workflow/status/${runId}`)
    if (holds(body)) return body
    if (Date.now() > deadline) throw new Error(`still ${JSON.stringify(body)}`)
  }
}
const ended = (run: Answer['body']) => run.endTime !== undefined
const isPaused = (run: Answer['body']) => run.status === 'paused'

async function called(runId: string): Promise<Call> {
  for (const deadline = Date.now() + 60_000; Date.now() < deadline; await sleep(10)) {
    const [first] = callsOf(runId)
    if (first) return first
  }
  throw new Error('no step reached the world')
}

describe('POST /api/workflow/management/terminate', () => {
  test('aborts running work at once, in any process', async () => {
    const runs = await Promise.all(Array.from({ length: 6 }, () => start({ steps: [effect('work', '/slow/600000')] })))
    const works = await Promise.all(runs.map(called))
    for (const runId of runs) {
      const answer = await on(web, 'POST', '/api/workflow/management/terminate', { runId, reason: 'now' })
      expect(answer.status).toBe(200)
      expect(answer.body).toEqual({
        success: true,
        runId,
        workflowId: expect.any(String),
        status: 'failed',
        outcome: 'terminated',
        reason: 'now',
      })
      // The next status request shows it, even in the other process.
      expect((await on(other, 'GET', `/api/workflow/status/${runId}`)).body).toMatchObject({ outcome: 'terminated' })
    }
    // Notified, not found by a sweep.
    await expect.poll(() => works.every(({ droppedAt }) => droppedAt !== undefined), PROMPT).toBe(true)
  })
})

describe('POST /api/workflow/management/cancel', () => {
  test('stops the work after the grace period, in any process', async () => {
    const runs = await Promise.all(Array.from({ length: 4 }, () => start({ steps: [effect('work', '/slow/600000')] })))
    const works = await Promise.all(runs.map(called))
    const asked = Date.now()
    for (const runId of runs) {
      const answer = await on(other, 'POST', '/api/workflow/management/cancel', { runId })
      expect(answer.body).toMatchObject({ success: true, status: 'running', outcome: null, reason: null })
    }
    for (const runId of runs) expect(await until(runId, ended)).toMatchObject({ outcome: 'cancelled' })
    for (const work of works) {
      await expect.poll(() => work.droppedAt ?? 0, PROMPT).toBeGreaterThanOrEqual(asked + GRACE_MS - 100)
    }
  })

  test.each([
    [{}, 400, 'INVALID_INPUT'],
    [{ runId: 'run_none' }, 404, 'RUN_NOT_FOUND'],
    [{ runId: ['x'] }, 400, 'INVALID_INPUT'],
    [{ runId: 'run_none', reason: 7 }, 400, 'INVALID_INPUT'],
  ])('answers %j with %i', async (body, status, code) => {
    for (const verb of ['cancel', 'terminate']) {
      const answer = await on(web, 'POST', `/api/workflow/management/${verb}`, body)
      expect(answer).toMatchObject({ status, body: { success: false, error: { code } } })
    }
  })

  test('a crash during the cleanup resumes the cleanup with the same idempotency key', async () => {
    hold.add('/undo')
    const runId = await start({ steps: [ask, effect('undo', '/undo')], onCancel: 'undo' })
    await until(runId, isPaused)
    await on(web, 'POST', '/api/workflow/management/cancel', { runId, reason: 'crash' })
    await called(runId)
    // Kill the process that does the work, whichever of the two.
    web.kill('SIGKILL')
    other.kill('SIGKILL')
    await Promise.all([web.exited, other.exited])
    hold.delete('/undo')
    const credentials = same()
    const killed = [web, other]
    web = await startWeb({ ...credentials, env: ENV })
    other = await startWeb({ ...credentials, env: { ...ENV, MILLRACE_HOST_ID: 'host_of_another' } })
    // Only now: the last process removes the key with the folder.
    await Promise.all(killed.map((process) => process.stop()))
    const run = await until(runId, ended, 60_000)
    expect(run).toMatchObject({ status: 'failed', outcome: 'cancelled', cancellation: { cleanup: 'completed' } })
    expect(run.stepExecutionHistory).toMatchObject([
      { stepId: 'ask', status: 'failed', error: 'Cancelled: crash' },
      { stepId: 'undo', status: 'completed', attempt: 2 },
    ])
    expect(new Set(callsOf(runId).map(({ key }) => key)).size).toBe(1)
  })
})

describe('Idempotency-Key', () => {
  test('simultaneous starts through two processes create one run', async () => {
    const created = await on(web, 'POST', '/api/workflows', { name: 'Once', steps: [{ id: 'end', type: 'end-flow' }] })
    const path = `/api/workflow/start/${created.body.id}`
    const send = (target: Web) => on(target, 'POST', path, {}, { headers: { 'idempotency-key': 'both' } })
    const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => send(i % 2 ? web : other)))
    expect(new Set(answers.map((answer) => JSON.stringify(answer.body))).size).toBe(1)
    expect(answers.filter((answer) => answer.headers.get('idempotent-replayed') === null)).toHaveLength(1)
    const list = await on(web, 'GET', `/api/workflow/runs?workflowId=${created.body.id}`)
    expect(list.body.runs).toHaveLength(1)
  })

  test('if the process that created the run dies, the repeat finds the run', async () => {
    hold.add('/dies')
    const created = await on(web, 'POST', '/api/workflows', { name: 'Dies', steps: [effect('work', '/dies')] })
    const path = `/api/workflow/start/${created.body.id}`
    const headers = { 'idempotency-key': 'dies' }
    const lost = on(other, 'POST', path, {}, { headers }).catch(() => 'lost')
    while (!calls.some(({ path: seen }) => seen === '/dies')) await sleep(10)
    other.kill('SIGKILL')
    expect(await lost).toBe('lost')
    hold.delete('/dies')
    const again = await on(web, 'POST', path, {}, { headers })
    expect(again.status).toBe(200)
    expect(again.body).toMatchObject({ status: 'completed' })
    const list = await on(web, 'GET', `/api/workflow/runs?workflowId=${created.body.id}`)
    expect(list.body.runs.map((run: { runId: string }) => run.runId)).toEqual([again.body.runId])
    await other.stop()
    other = await startWeb({ ...same(), env: { ...ENV, MILLRACE_HOST_ID: 'host_of_another' } })
  })
})

describe('GET /api/workflow/events/:runId', () => {
  test('streams to the end, resumes in another process, and stops a client that has seen everything', async () => {
    const runId = await start({
      steps: [effect('a', '/quick/50'), ask, effect('b', '/quick/50'), { id: 'end', type: 'end-flow' }],
      edges: [
        { from: 'a', to: 'ask' },
        { from: 'ask', to: 'b' },
        { from: 'b', to: 'end' },
      ],
    })
    const gone = new AbortController()
    const first = await read(web, runId, null, gone.signal, (seen) =>
      seen.some((event) => event.data.includes('"paused"')),
    )
    gone.abort()
    expect(first.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    const resume = { type: 'collect_inputs', data: { n: 1 } }
    expect((await on(web, 'POST', `/api/workflow/resume/${runId}`, resume)).status).toBe(200)
    const second = await read(other, runId, first.events.at(-1)?.id ?? null, AbortSignal.timeout(60_000))
    expect(second.events.at(-1)).toMatchObject({ event: 'end' })
    const ids = [...first.events, ...second.events].map((event) => event.id)
    expect(new Set(ids).size).toBe(ids.length)
    const seenAll = await fetch(`${web.url}/api/workflow/events/${runId}`, {
      headers: { 'x-api-key': web.apiKey, 'last-event-id': ids.at(-1) ?? '' },
    })
    expect(seenAll.status).toBe(204)
  })

  test('refuses unauthenticated callers, unknown runs and invalid ids', async () => {
    const path = '/api/workflow/events/run_none'
    expect((await on(web, 'GET', path, undefined, { headers: { 'x-api-key': 'sk_wrong_key' } })).status).toBe(401)
    expect(await on(web, 'GET', path)).toMatchObject({ status: 404, body: { error: { code: 'RUN_NOT_FOUND' } } })
    expect((await on(web, 'GET', path, undefined, { headers: { 'last-event-id': 'x' } })).status).toBe(400)
  })
})

describe('POST /api/workflow/retry/:runId and /api/workflow/rerun/:runId', () => {
  test('return the new run and its location', async () => {
    const runId = await start({ steps: [ask] })
    await until(runId, isPaused)
    expect((await on(web, 'POST', `/api/workflow/retry/${runId}`)).status).toBe(409)
    await on(web, 'POST', '/api/workflow/management/terminate', { runId })
    // Bodies of retries were ignored until they had fields.
    const bodies = [{ reason: 'x', version: null, fromStepId: null }, {}, undefined]
    for (const [verb, body] of [...bodies.map((body) => ['retry', body] as const), ['rerun', undefined] as const]) {
      const answer = await on(web, 'POST', `/api/workflow/${verb}/${runId}`, body)
      expect(answer.status).toBe(200)
      expect(answer.body).toEqual({ success: true, runId: expect.stringMatching(/^run_/), retryOf: runId })
      expect(answer.headers.get('location')).toBe(`/api/workflow/status/${answer.body.runId}`)
      await until(answer.body.runId, isPaused)
      expect((await on(web, 'POST', `/api/workflow/${verb}/run_none`)).status).toBe(404)
    }
  })
})

describe('GET /api/workflow/runs', () => {
  test('includes paused runs, page by page', async () => {
    const first = await on(web, 'GET', '/api/workflow/runs?status=paused&limit=1')
    expect(first.body.runs).toHaveLength(1)
    const second = await on(web, 'GET', `/api/workflow/runs?status=paused&limit=1&cursor=${first.body.nextCursor}`)
    expect(second.body.runs[0].runId).not.toBe(first.body.runs[0].runId)
    for (const query of ['status=no', 'limit=0', 'limit=201', 'cursor=x', 'outcome=x'])
      expect((await on(web, 'GET', `/api/workflow/runs?${query}`)).status, query).toBe(400)
  })
})

test.each([
  ['/api/workflow/management/cancel', 'POST'],
  ['/api/workflow/management/terminate', 'POST'],
  ['/api/workflow/retry/run_x', 'POST'],
  ['/api/workflow/rerun/run_x', 'POST'],
  ['/api/workflow/runs', 'GET'],
  ['/api/workflow/events/run_x', 'GET'],
])('%s lists its method', async (path, allow) => {
  const answer = await on(web, 'DELETE', path)
  expect(answer.status).toBe(405)
  expect(answer.headers.get('allow')?.split(', ')).toContain(allow)
})

interface Event {
  id: string
  event: string
  data: string
}

async function read(
  target: Web,
  runId: string,
  lastEventId: string | null,
  signal: AbortSignal,
  enough: (events: Event[]) => boolean = () => false,
): Promise<{ headers: Headers; events: Event[] }> {
  const response = await fetch(`${target.url}/api/workflow/events/${runId}`, {
    headers: { 'x-api-key': target.apiKey, ...(lastEventId === null ? {} : { 'last-event-id': lastEventId }) },
    signal,
  })
  const events: Event[] = []
  let text = ''
  for await (const chunk of response.body ?? []) {
    text += new TextDecoder().decode(chunk)
    const blocks = text.split('\n\n')
    text = blocks.pop() ?? ''
    for (const block of blocks) {
      const match = /^id: (.+)\nevent: (.+)\ndata: (.+)$/.exec(block)
      if (match) events.push({ id: match[1] ?? '', event: match[2] ?? '', data: match[3] ?? '' })
    }
    if (enough(events)) break
  }
  return { headers: response.headers, events }
}
