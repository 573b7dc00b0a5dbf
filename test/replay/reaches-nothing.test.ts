import { sql } from 'drizzle-orm'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { connect } from '@/db/index'
import type { ServiceContext } from '@/server/context'
import type { JsonObject } from '@/server/definition/json'
import type { Definition } from '@/server/definition/schema'
import { backtestWorkflow } from '@/server/runs/backtest/backtest'
import { BothVersions } from '@/server/workflows/replay/as-recorded'
import { computingIn } from '@/server/workflows/replay/compute'
import type { Fact, RecordedRun } from '@/server/workflows/replay/facts'
import { judge } from '@/server/workflows/replay/judge'
import { copyRun } from '../support/copy-run'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { startTestRuntime, type TestRuntime } from '../support/runtime'
import { backtests, inARow, signedIn } from './backtests'

// A replay writes no row, opens no connection, and calls no tool, agent, request or child.

let database: FreshDatabase
let runtime: TestRuntime
beforeAll(async () => {
  database = await freshDatabase()
  runtime = await startTestRuntime(database.url)
})
afterEach(() => void vi.unstubAllGlobals())
afterAll(async () => {
  await runtime?.stop()
  await database?.close()
})

const { published, ran, changed } = backtests(() => runtime)
const never = new AbortController().signal

/** Throws whenever it is used. */
const refusing = <T extends object>(what: string): T =>
  new Proxy(Object.assign(() => undefined, {}) as unknown as T, {
    get: (_target, name) => {
      throw new Error(`a replay used ${what}: ${String(name)}`)
    },
    apply: () => {
      throw new Error(`a replay called ${what}`)
    },
  })

test('each step type is replayed without the database and without a request, with and without a recorded outcome', async () => {
  const { stepTypes } = await import('@/server/steps/registry')
  vi.stubGlobal('fetch', refusing('fetch'))
  const ctx: ServiceContext = { ...runtime.ctx, db: refusing('the database') }
  for (const type of stepTypes()) {
    // A setting that no sample has, so that nothing that is called is equal.
    const step = { id: 'step', type: type.type, ...type.sample }
    const definition = {
      ...{ name: 'One', description: '', initialStep: 'step', payload: {}, steps: [step], edges: [] },
    } as unknown as Definition
    const asked = { ...type.sample, other: true } as JsonObject
    for (const came of [null, { output: { done: true } }, { failed: { code: 'FAILED', message: 'No' } }] as const) {
      const at = { branch: 'main', stepId: 'step', visit: 1 }
      const visits: Fact[] = came ? [{ ...at, type: type.type, start: null, asked, came }] : []
      const run: RecordedRun = {
        ...{ id: 'run_1', version: 1, startTime: new Date(0).toISOString() },
        facts: { input: {}, edits: [], visits, arrivals: {} },
        way: { visits: [{ ...at, exit: null }], end: { result: {} } },
      }
      const own = { definition, both: new BothVersions(definition, definition), hides: new Set<string>() }
      const vault = { text: (text: string) => text, json: <T>(value: T) => value, longest: 0 }
      const computing = computingIn(ctx, never, new Set())
      const { verdict } = await judge(ctx, run, own, { definition, computing, assume: {}, vault, healing: false })
      expect(verdict.is, type.type).toMatch(/^(same|result|way|fails|untold)$/)
    }
  }
})

/** A workflow of 20 steps, half of them calls, and 1,000 runs of it. */
async function thousandRuns(): Promise<string> {
  const steps = Array.from({ length: 19 }, (_, at) =>
    at % 2 === 0
      ? { id: `s${at}`, type: 'test-effect', body: { n: '${n}', at }, saveAs: `r${at}` }
      : { id: `s${at}`, type: 'set-data', values: { [`v${at}`]: `\${r${at - 1}.n}` }, compute: { n: '${n} + 1' } },
  )
  const last = { id: 'end', type: 'end-flow', output: { n: '${n}', v: '${v17}' } }
  const id = await published({ payload: { n: { type: 'number' } }, ...inARow(...steps, last) })
  const runId = await ran(id, { n: 1 })
  await copyRun(database.sql, runId, 999)
  await changed(id, inARow(...steps, { ...last, output: { n: '${n}', v: 'v${v17}' } }))
  return id
}

test('1,000 runs are tried on a database that refuses writes, 50 in a statement', async () => {
  const id = await thousandRuns()
  const name = new URL(database.url).pathname.slice(1)
  await runtime.db.execute(sql.raw(`alter database "${name}" set default_transaction_read_only = on`))
  const readOnly = connect(database.url, { max: 2, name: 'read-only' })
  vi.stubGlobal('fetch', refusing('fetch'))
  try {
    await expect(readOnly.db.execute(sql`create table refused ()`)).rejects.toThrow()
    const ctx = { ...signedIn(runtime.ctx, 'editor'), db: readOnly.db }
    const statements = vi.spyOn(await reading(), 'execute')
    const found = await backtestWorkflow(ctx, { id, body: { runs: 1_000 } }, never)
    expect(found).toMatchObject({ truncated: false, sampled: { runs: 1_000, of: 1_000, strata: 1 } })
    expect(found.counts).toMatchObject({ result: 1_000, untold: 0, assumed: 0 })
    // The sample, and the runs.
    expect(statements).toHaveBeenCalledTimes(1 + 20)
  } finally {
    await readOnly.close?.()
    await runtime.db.execute(sql.raw(`alter database "${name}" reset default_transaction_read_only`))
  }
})

/** The connections of large reads. */
async function reading() {
  const { readsDatabase } = await import('@/server/database')
  return readsDatabase().db
}

test('one backtest of a workspace at a time, and one whose runs do not exist is refused', async () => {
  const id = await published(inARow({ id: 'end', type: 'end-flow', output: {} }))
  await ran(id)
  const ctx = signedIn(runtime.ctx, 'editor')
  const both = await Promise.allSettled([1, 2].map(() => backtestWorkflow(ctx, { id, body: {} }, never)))
  expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
  expect(both.find(({ status }) => status === 'rejected')).toMatchObject({
    reason: { code: 'RATE_LIMITED', headers: { 'retry-after': '5' } },
  })
  await expect(backtestWorkflow(ctx, { id, body: { runIds: ['run_none'] } }, never)).rejects.toMatchObject({
    ...{ code: 'INVALID_INPUT', details: [{ path: 'runIds[0]' }] },
  })
})
