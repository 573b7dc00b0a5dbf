import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { withTransaction } from '@/server/context'
import { createApiKey } from '@/server/credentials/api-keys/create'
import type { RouteHandler } from '@/server/rest/route'
import { loadSamples } from '@/server/tenants/boot/seed'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { startTestRuntime, type TestRuntime } from '../support/runtime'

// A queue without a worker, on a clock that stands still unless the test moves it, so that refusals are exact.

const LIMIT = 12
let database: FreshDatabase
let runtime: TestRuntime
let start: RouteHandler
let list: RouteHandler

beforeAll(async () => {
  database = await freshDatabase()
  runtime = await startTestRuntime(database.url, { ENGINE: 'off', QUEUE_LIMIT: String(LIMIT) })
  start = (await import('@/app/api/workflow/start-async/[workflowId]/route')).POST as RouteHandler
  list = (await import('@/app/api/workflow/runs/route')).GET as RouteHandler
})
afterAll(async () => {
  await runtime?.stop()
  await database?.close()
})

interface Caller {
  tenantId: string
  headers: Record<string, string>
}

async function caller(tenantId: string): Promise<Caller> {
  const ctx = await runtime.as('owner', tenantId)
  await withTransaction(ctx, loadSamples)
  const { key } = await createApiKey(ctx, { name: 'test', role: 'owner' })
  return { tenantId, headers: { 'x-api-key': key, 'content-type': 'application/json' } }
}

/** Starts a run, and returns whether the body was read. */
async function startOne({ headers }: Caller) {
  let read = false
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        read = true
        controller.enqueue(Buffer.from('{"name":"Ada"}'))
        controller.close()
      },
    },
    { highWaterMark: 0 },
  )
  const init = { method: 'POST', headers, body, duplex: 'half' } as RequestInit
  const answer = await start(new Request('http://localhost/api/workflow/start-async/wf_hello', init), {
    params: Promise.resolve({ workflowId: 'wf_hello' }),
  })
  return { status: answer.status, headers: answer.headers, body: await answer.json(), read }
}

/** The response to a start once the queue may be read again. */
async function later(one: Caller): Promise<number> {
  vi.advanceTimersByTime(1_100)
  return (await startOne(one)).status
}

async function runsOf({ tenantId }: Caller): Promise<number> {
  const [row] = await database.sql<{ n: number }[]>`select count(*)::int as n from runs where tenant_id = ${tenantId}`
  return row?.n ?? 0
}

/** Starts runs one after the other until one is refused. */
async function fill(one: Caller) {
  for (let started = 0; ; started++) {
    const answer = await startOne(one)
    if (answer.status !== 200) return { started, refused: answer }
    expect(started).toBeLessThan(LIMIT)
  }
}

test('a full queue refuses starts before it reads them: first of the workspace that filled it, at last of all', async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  const [first, second, third] = [await caller('ten_first'), await caller('ten_second'), await caller('ten_third')]
  const mine = await fill(first)
  expect(mine.started).toBe(LIMIT / 2)
  expect(mine.refused).toMatchObject({ status: 429, read: false, body: { error: { code: 'RATE_LIMITED' } } })
  expect(mine.refused.headers.get('retry-after')).toBe('5')
  expect(await runsOf(first)).toBe(LIMIT / 2)

  // Asked again at once, it refuses from the headers alone.
  const again = { ...first.headers, 'x-request-id': 'asked-again' }
  const { requestId: _, ...told } = mine.refused.body
  const refusal = start.refuse?.(again)
  expect(refusal).toMatchObject({ status: 429, headers: { 'retry-after': '5', 'x-request-id': 'asked-again' } })
  expect(JSON.parse(refusal?.text ?? '')).toEqual({ ...told, requestId: 'asked-again' })
  expect(Object.keys(refusal?.headers ?? {}).sort()).toEqual([...mine.refused.headers.keys()].sort())
  for (const other of [
    second.headers,
    { ...again, 'x-tenant-id': 'ten_second' },
    { ...again, origin: 'https://a.example' },
  ])
    expect(start.refuse?.(other)).toBeNull()

  const theirs = await fill(second)
  expect([theirs.started, theirs.refused.status]).toEqual([LIMIT / 4, 429])
  expect(await startOne(third)).toMatchObject({ status: 200, read: true })

  // Other processes fill the remaining room.
  await database.sql`
    insert into engine.jobs (id, function_id, kind, lane, due_at)
    select 'other' || n, 'millrace-run-workflow', 'run', 'other' || n, now() from generate_series(1, ${LIMIT}::int) n`
  await expect.poll(() => later(third)).toBe(503)
  const known = await runsOf(third)
  const refused = await startOne(third)
  expect(refused).toMatchObject({ status: 503, read: false, body: { error: { code: 'UNAVAILABLE' } } })
  expect(refused.headers.get('retry-after')).toBe('5')
  expect(await runsOf(third)).toBe(known)
  const asked = await list(new Request('http://localhost/api/workflow/runs', { headers: third.headers }), {
    params: Promise.resolve(undefined),
  })
  expect(asked.status).toBe(200)

  await database.sql`delete from engine.jobs where id like 'other%'`
  const fourth = await caller('ten_fourth')
  await expect.poll(() => later(fourth)).toBe(200)
})
