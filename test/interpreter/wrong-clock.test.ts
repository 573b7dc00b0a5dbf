import { afterAll, beforeAll, expect, test } from 'vitest'
import { createApiKey } from '@/server/credentials/api-keys/create'
import type { RouteHandler } from '@/server/rest/route'
import { createWorkflow } from '@/server/workflows/lifecycle'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { startTestRuntime, type TestRuntime } from '../support/runtime'

// The whole product in a process whose clock is an hour off, first one way and then the other.

const HOUR_MS = 3_600_000
const RealDate = Date
let offMs = HOUR_MS

/** The results of `new Date()` and `Date.now()` in this process from now on. */
class WrongDate extends RealDate {
  constructor(...args: unknown[]) {
    super(...((args.length > 0 ? args : [RealDate.now() + offMs]) as [number]))
  }
  static override now() {
    return RealDate.now() + offMs
  }
  static override [Symbol.hasInstance](value: unknown) {
    return value instanceof RealDate
  }
}

let database: FreshDatabase
let runtime: TestRuntime
let from: Date
let headers: Record<string, string>

beforeAll(async () => {
  database = await freshDatabase()
  ;[{ from }] = (await database.sql`select now() as from`) as unknown as [{ from: Date }]
  globalThis.Date = WrongDate as unknown as DateConstructor
  runtime = await startTestRuntime(database.url)
  const { now } = await import('@/server/clock')
  Object.assign(runtime.ctx, { now })
  const { key } = await createApiKey(runtime.ctx, { name: 'test', role: 'owner' })
  headers = { 'x-api-key': key, 'content-type': 'application/json' }
})
afterAll(async () => {
  await runtime?.stop()
  globalThis.Date = RealDate
  await database?.close()
})

const set = (id: string) => ({ id, type: 'set-data', values: { at: id } })
const chain = (...ids: string[]) => ids.slice(1).map((to, at) => ({ from: ids[at], to }))
const KINDS = [
  { steps: [set('a'), { id: 'wait', type: 'delay', for: 'PT0.5S' }, set('b')], edges: chain('a', 'wait', 'b') },
  {
    steps: [
      { id: 'ask', type: 'request-user-action', actions: [{ id: 'yes', label: 'Yes' }], expiresIn: 'PT1S' },
      set('answered'),
      set('late'),
    ],
    edges: [...chain('ask', 'answered'), { from: 'ask', to: 'late', on: 'timeout' }],
  },
  {
    steps: [
      { id: 'fail', type: 'test-effect', url: 'http://127.0.0.1:1/', retry: { initialDelayMs: 300, maxAttempts: 2 } },
      set('rescued'),
    ],
    edges: [{ from: 'fail', to: 'rescued', on: 'error' }],
  },
]

async function post(path: string, handler: RouteHandler, params: Record<string, string>, key?: string) {
  const init = { method: 'POST', headers: { ...headers, ...(key ? { 'idempotency-key': key } : {}) }, body: '{}' }
  const answer = await handler(new Request(`http://localhost${path}`, init), { params: Promise.resolve(params) })
  expect(answer.status).toBeLessThan(300)
  return answer.json()
}

/** Every moment in the database that is not near its own present. Sweeps are due every 15 minutes. */
async function strayTimes(): Promise<string[]> {
  const columns = await database.sql<{ at: string; name: string }[]>`
    select quote_ident(table_schema) || '.' || quote_ident(table_name) as at, quote_ident(column_name) as name
    from information_schema.columns join information_schema.tables using (table_schema, table_name)
    where table_schema in ('public', 'engine') and table_type = 'BASE TABLE' and data_type like 'timestamp%'`
  expect(columns.length).toBeGreaterThan(50)
  const found = await Promise.all(
    columns.map(
      ({ at, name }) => database.sql<{ where: string }[]>`
        select ${`${at}.${name}`} || ': ' || value as where from (
          select ${database.sql.unsafe(name)} as value from ${database.sql.unsafe(at)}) v
        where value < ${from.toISOString()}::timestamptz - interval '20 minutes' or value > now() + interval '20 minutes'`,
    ),
  )
  return found.flat().map(({ where }) => where)
}

test.each([HOUR_MS, -HOUR_MS])(
  'a process whose clock is %d ms off writes the database’s time, and waits no longer or shorter',
  async (off) => {
    offMs = off
    const { POST: start } = await import('@/app/api/workflow/start/[workflowId]/route')
    const runs: { runId: string; status: string }[] = await Promise.all(
      KINDS.map(async (kind, n) => {
        const { id } = await createWorkflow(runtime.ctx, { name: 'Clock', ...kind })
        return post(`/api/workflow/start/${id}`, start, { workflowId: id }, `key-${n}-${off}`)
      }),
    )
    const ended = await Promise.all(runs.map(({ runId }) => runtime.wait(runId)))
    expect(ended.map(({ status, data }) => [status, (data as { at?: string }).at])).toEqual([
      ['completed', 'b'],
      ['completed', 'late'],
      ['completed', 'rescued'],
    ])
    const [waited, asked, retried] = ended.map(({ stepExecutionHistory }) => stepExecutionHistory)
    const took = (steps: typeof waited, id: string) => {
      const step = steps?.find(({ stepId }) => stepId === id)
      return RealDate.parse(step?.endTime ?? '') - RealDate.parse(step?.startTime ?? '')
    }
    expect(took(waited, 'wait')).toBeGreaterThanOrEqual(500)
    expect(took(asked, 'ask')).toBeGreaterThanOrEqual(1_000)
    expect(took(retried, 'fail')).toBeGreaterThanOrEqual(200)
    // Until its job has ended, a run may hold a wait of the engine that lasts a year.
    await expect.poll(strayTimes).toEqual([])
  },
)
