import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { DatabaseUnavailable } from '@/db/deadline'
import type { Sql } from '@/db/types'
import { withTransaction } from '@/server/context'
import { createApiKey } from '@/server/credentials/api-keys/create'
import { database as processDatabase } from '@/server/database'
import { forget, recallPause } from '@/server/interpreter/recall/run'
import { recalls } from '@/server/interpreter/recall/switch'
import { type RouteHandler, route } from '@/server/rest/route'
import { loadSamples } from '@/server/tenants/boot/seed'
import { publishWorkflow, updateWorkflow } from '@/server/workflows/lifecycle'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { startTestRuntime, type TestRuntime } from '../support/runtime'

// A start, a resume or a status by a recently read key does not read it again: their own statements check it.

let database: FreshDatabase
let runtime: TestRuntime
let routes: Record<'start' | 'start-async', RouteHandler>
let resume: RouteHandler
let status: RouteHandler
/** The reads of keys so far. */
let reads = 0

beforeAll(async () => {
  database = await freshDatabase({ max: 10 })
  runtime = await startTestRuntime(database.url)
  await withTransaction(runtime.ctx, loadSamples)
  routes = {
    start: (await import('@/app/api/workflow/start/[workflowId]/route')).POST as RouteHandler,
    'start-async': (await import('@/app/api/workflow/start-async/[workflowId]/route')).POST as RouteHandler,
  }
  resume = (await import('@/app/api/workflow/resume/[runId]/route')).POST as RouteHandler
  status = (await import('@/app/api/workflow/status/[runId]/route')).GET as RouteHandler
  Object.assign(processDatabase().sql.options, {
    debug: (_connection: number, text: string) => (reads += /^select .*from "api_keys"/.test(text) ? 1 : 0),
  })
})
afterAll(async () => {
  await runtime?.stop()
  await database?.close()
})

type Start = (options?: {
  id?: string
  body?: string
  headers?: Record<string, string>
  query?: string
  way?: 'start' | 'start-async'
}) => Promise<{
  status: number
  body: { error?: { code: string }; workflowVersion?: number }
}>

/** A caller whose key this process has just read. */
async function knownCaller(): Promise<{ id: string; key: string; start: Start }> {
  const { id, key } = await createApiKey(runtime.ctx, { name: 'test', role: 'operator' })
  const start: Start = async (options = {}) => {
    const { id = 'wf_hello', body = '{"name":"Ada"}', headers = {}, query = '', way = 'start' } = options
    const init = { method: 'POST', headers: { 'x-api-key': key, 'content-type': 'application/json', ...headers }, body }
    const params = Promise.resolve({ workflowId: id })
    const answer = await routes[way](new Request(`http://localhost/api/workflow/${way}/${id}${query}`, init), {
      params,
    })
    return { status: answer.status, body: await answer.json() }
  }
  expect((await start()).status).toBe(200)
  return { id, key, start }
}

async function runs(): Promise<number> {
  const [row] = await database.sql<{ n: number }[]>`select count(*)::int as n from runs`
  return row?.n ?? 0
}

test.each(['start', 'start-async'] as const)('%s reads the key of a caller once', async (way) => {
  const { start } = await knownCaller()
  const before = reads
  for (let times = 0; times < 3; times++) expect((await start({ way })).status).toBe(200)
  expect(reads).toBe(before)
})

test.each<[string, Parameters<Start>[0]]>([
  ['a start', {}],
  ['an asynchronous start', { way: 'start-async' }],
  ['a start of an unknown workflow', { id: 'wf_unknown' }],
  ['a start without a value it needs', { body: '{}' }],
  ['a start that is no JSON', { body: '{"name":' }],
  ['a start with an unknown parameter', { query: '?unknown=1' }],
])('%s with a key that was disabled is refused for the key, and nothing starts', async (_what, options) => {
  const { id, start } = await knownCaller()
  await database.sql`update api_keys set disabled_at = now() where id = ${id}`
  const before = await runs()
  expect(await start(options)).toMatchObject({ status: 401, body: { error: { code: 'UNAUTHORIZED' } } })
  expect(await runs()).toBe(before)
})

test('a mistake in the request reads the key once', async () => {
  const { start } = await knownCaller()
  for (const mistake of [{ id: 'wf_unknown' }, { body: '{}' }, { body: '{"name":' }]) {
    const before = reads
    expect((await start(mistake)).status).not.toBe(200)
    expect(reads).toBe(before + 1)
  }
})

test('an answer for which nothing checked the key is not sent: the key is read, and the request answered anew', async () => {
  const { id, key } = await knownCaller()
  const handler = route(async ({ ctx }) => ({ body: { cached: ctx.cachedCaller !== undefined } }), { checksKey: true })
  const ask = () => {
    const request = new Request('http://localhost/api/anything', { headers: { 'x-api-key': key } })
    return handler(request, { params: Promise.resolve({}) })
  }
  expect(await (await ask()).json()).toEqual({ cached: false })
  await database.sql`update api_keys set disabled_at = now() where id = ${id}`
  expect((await ask()).status).toBe(401)
})

test('a disabled key uses its tenant’s limits up no further', async () => {
  const { id, start } = await knownCaller()
  await database.sql`update api_keys set disabled_at = now() where id = ${id}`
  expect((await start()).status).toBe(401)
  const before = reads
  expect((await start()).status).toBe(401)
  // It is no longer cached: it was read first.
  expect(reads).toBe(before + 1)
})

const UNAVAILABLE = { status: 503, body: { error: { code: 'UNAVAILABLE' } } }

/** Makes the database write a call's rows, and its answer get lost. */
async function losingAnswers<T>(call: () => Promise<T>): Promise<T> {
  const client = processDatabase().db.$client as { rows: Pick<Sql, 'unsafe'> }
  const { rows } = client
  try {
    client.rows = {
      unsafe: (async (...args: Parameters<Sql['unsafe']>) => {
        await rows.unsafe(...args)
        throw new DatabaseUnavailable('The database did not answer within 5000 ms.')
      }) as unknown as Sql['unsafe'],
    }
    return await call()
  } finally {
    client.rows = rows
  }
}

test('a start whose answer was lost is not made again', async () => {
  const { start } = await knownCaller()
  const before = await runs()
  expect(await losingAnswers(() => start({ way: 'start-async' }))).toMatchObject(UNAVAILABLE)
  expect(await runs()).toBe(before + 1)
})

test('a key is refused at once after its rotation has ended', async () => {
  const { id, start } = await knownCaller()
  await database.sql`update api_keys set grace_until = now() + interval '1 hour' where id = ${id}`
  expect((await start()).status).toBe(200)
  await database.sql`update api_keys set grace_until = now() - interval '1 ms' where id = ${id}`
  expect((await start()).status).toBe(401)
})

test('a key whose role was lowered may do at once what its new role may', async () => {
  const { id, start } = await knownCaller()
  await database.sql`update api_keys set role = 'viewer' where id = ${id}`
  const before = await runs()
  expect(await start()).toMatchObject({ status: 403, body: { error: { code: 'FORBIDDEN' } } })
  expect(await runs()).toBe(before)
})

test('a known key with the name of another tenant is refused', async () => {
  const { start } = await knownCaller()
  expect((await start({ headers: { 'x-tenant-id': 'ten_other' } })).status).toBe(401)
})

test('mistakes in the request are reported as to any caller, and the next start works', async () => {
  const { start } = await knownCaller()
  expect(await start({ id: 'wf_unknown' })).toMatchObject({
    status: 404,
    body: { error: { code: 'WORKFLOW_NOT_FOUND' } },
  })
  expect(await start({ body: '{}' })).toMatchObject({ status: 400, body: { error: { code: 'INVALID_INPUT' } } })
  expect((await start()).status).toBe(200)
})

test('a key that is sent with an Idempotency-Key is read, because that is written first', async () => {
  const { id, start } = await knownCaller()
  const headers = { 'idempotency-key': 'once' }
  const before = reads
  expect((await start({ headers })).status).toBe(200)
  expect(reads).toBe(before + 1)
  await database.sql`update api_keys set disabled_at = now() where id = ${id}`
  expect((await start({ headers: { 'idempotency-key': 'twice' } })).status).toBe(401)
})

test('a workflow that was published meanwhile is started as it is now', async () => {
  const { start } = await knownCaller()
  const { body } = await start()
  await updateWorkflow(runtime.ctx, { id: 'wf_hello', body: { description: 'Says hello.' } })
  await publishWorkflow(runtime.ctx, { id: 'wf_hello' })
  expect((await start()).body.workflowVersion).toBeGreaterThan(body.workflowVersion ?? 0)
})

/** Whether the process that answers a paused run still caches what it has written of it. */
let remembered = true

/** A paused run, and a caller whose key this process has just read. */
async function pausedRun() {
  const { id, key } = await knownCaller()
  const runId = await runtime.start(ASKS)
  await runtime.wait(runId, (run) => run.status === 'paused')
  if (!remembered) forget(runId)
  expect(recallPause(runtime.ctx.tenantId, runId) !== null).toBe(remembered)
  const ask = async (handler: RouteHandler, method: string, body?: string, of = runId) => {
    const headers = { 'x-api-key': key, 'content-type': 'application/json' }
    const request = new Request('http://localhost/api/workflow', { method, headers, ...(body ? { body } : {}) })
    const answer = await handler(request, { params: Promise.resolve({ runId: of }) })
    return { status: answer.status, body: await answer.json() }
  }
  return {
    id,
    runId,
    answer: (body = GO, of?: string) => ask(resume, 'POST', body, of),
    status: (of?: string) => ask(status, 'GET', undefined, of),
  }
}

const answerOf = (actionId: string) => JSON.stringify({ type: 'request_user_action', actionId, actionValue: actionId })
const GO = answerOf('go')
const UNKNOWN = answerOf('unknown')
const ASKS = {
  name: 'Asks',
  steps: [
    { id: 'ask', type: 'request-user-action', actions: [{ id: 'go', label: 'Go' }] },
    { id: 'end', type: 'end-flow' },
  ],
  edges: [{ from: 'ask', to: 'end' }],
}

describe.each([
  // Without recall, a process remembers no run.
  ...(recalls() ? [['its process remembers', true] as const] : []),
  ['it has to read', false] as const,
])('of a run that %s,', (_what, remembers) => {
  beforeEach(() => {
    remembered = remembers
  })

  test('a resume and a status do not read the key of a known caller', async () => {
    const { id, runId, answer, status } = await pausedRun()
    const before = reads
    expect(await status()).toMatchObject({ status: 200, body: { runId, status: 'paused' } })
    expect(await answer()).toMatchObject({ status: 200, body: { success: true, runId } })
    await runtime.wait(runId)
    expect(await status()).toMatchObject({ status: 200, body: { status: 'completed' } })
    expect(reads).toBe(before)
    const [given] = await database.sql`select answered_by from pauses where run_id = ${runId}`
    expect(given?.answered_by).toBe(id)
  })

  test('a resume and a status by a key that was disabled are refused at once, and nothing is answered', async () => {
    const refused = { status: 401, body: { error: { code: 'UNAUTHORIZED' } } }
    for (const way of ['answer', 'status'] as const) {
      const run = await pausedRun()
      await database.sql`update api_keys set disabled_at = now() where id = ${run.id}`
      expect(await run[way]()).toMatchObject(refused)
      expect((await runtime.status(run.runId)).status).toBe('paused')
    }
    const other = await pausedRun()
    await database.sql`update api_keys set disabled_at = now() where id = ${other.id}`
    expect(await other.answer(UNKNOWN)).toMatchObject(refused)
    expect(await other.status('run_unknown')).toMatchObject(refused)
  })

  test('a key whose role was lowered may resume no more at once', async () => {
    const { id, runId, answer } = await pausedRun()
    await database.sql`update api_keys set role = 'viewer' where id = ${id}`
    expect(await answer()).toMatchObject({ status: 403, body: { error: { code: 'FORBIDDEN' } } })
    expect((await runtime.status(runId)).status).toBe('paused')
  })

  test('mistakes in a resume and a status are reported as to any caller', async () => {
    const { answer, status } = await pausedRun()
    const unknown = 'run_01ARZ3NDEKTSV4RRFFQ69G5FAV'
    expect(await status(unknown)).toMatchObject({ status: 404, body: { error: { code: 'RUN_NOT_FOUND' } } })
    expect(await answer(undefined, unknown)).toMatchObject({ status: 404, body: { error: { code: 'RUN_NOT_FOUND' } } })
    expect(await answer(UNKNOWN)).toMatchObject({
      status: 400,
      body: { error: { code: 'INVALID_INPUT' } },
    })
    expect((await answer()).status).toBe(200)
    expect(await answer()).toMatchObject({ status: 409, body: { error: { code: 'RUN_NOT_PAUSED' } } })
  })

  test('a resume whose answer was lost is not made again', async () => {
    const { runId, answer } = await pausedRun()
    expect(await losingAnswers(() => answer())).toMatchObject(UNAVAILABLE)
    const [given] = await database.sql`select answered_at from pauses where run_id = ${runId}`
    expect(given?.answered_at).not.toBeNull()
  })
})
