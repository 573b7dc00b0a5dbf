import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ServiceContext } from '@/server/context'
import { listMovable } from '@/server/runs/moves/open-runs'
import { startRun } from '@/server/runs/start'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { startTestRuntime, type TestRuntime } from '../support/runtime'
import { ask, type Drawn, END, isPaused, path, say, waiting } from './moving'

let database: FreshDatabase
let runtime: TestRuntime
beforeAll(async () => {
  database = await freshDatabase({ max: 20 })
  runtime = await startTestRuntime(database.url)
})
// Checks the invariants.
afterAll(async () => {
  await runtime?.stop()
  await database?.close()
})

/** A context that counts its reads. */
function counted(ctx: ServiceContext): { ctx: ServiceContext; reads: () => number } {
  let reads = 0
  const get = (db: object, name: string) => {
    if (name === 'select' || name === 'selectDistinct' || name === 'execute') reads++
    const found = Reflect.get(db, name)
    return typeof found === 'function' ? found.bind(db) : found
  }
  return { ctx: { ...ctx, db: new Proxy(ctx.db, { get: get as never }) }, reads: () => reads }
}

const BRANCHES = 100

test(`a run with ${BRANCHES} open branches takes no more reads to judge than one with two`, async () => {
  const each = (items: number, said: string): Drawn => ({
    payload: { items: { type: 'array' } },
    steps: [
      { id: 'each', type: 'for-each', items: '${items}', concurrency: items },
      ask({ maxVisits: 3, title: 'Item ${item}' }),
      say(said),
    ],
    initialStep: 'each',
    edges: [
      { from: 'each', to: 'ask', on: 'each' },
      { from: 'each', to: 'say', on: 'done' },
    ],
  })
  const readsFor = async (items: number) => {
    const { workflowId, runId, to } = await waiting(runtime, each(items, 'one'), each(items, 'two'), {
      data: { items: Array.from({ length: items }, (_, at) => at) },
      until: ({ pauseSignals }) => pauseSignals.length === items,
    })
    const { ctx, reads } = counted(runtime.ctx)
    // Read once, and known from then on.
    await listMovable(runtime.ctx, { id: workflowId, query: { to } })
    const { runs } = await listMovable(ctx, { id: workflowId, query: { to } })
    expect(runs).toMatchObject([{ runId, verdict: 'safe', reasons: [] }])
    return reads()
  }
  expect(await readsFor(BRANCHES)).toBe(await readsFor(2))
})

test('a page of the list ends once it took long, and the next one continues there', async () => {
  const { workflowId, from, to, runId } = await waiting(runtime, path(ask()), path(ask(), say('two')))
  const started = [runId]
  for (let n = 0; n < 5; n++) {
    const run = await startRun(runtime.ctx, { workflowId, body: {}, version: String(from) })
    await runtime.wait(run.runId, isPaused, END)
    started.push(run.runId)
  }
  const found: string[] = []
  let pages = 0
  for (let after: string | undefined; ; pages++) {
    const query = { to, ...(after === undefined ? {} : { after }) }
    const page = await listMovable(runtime.ctx, { id: workflowId, query }, 0)
    found.push(...page.runs.map((run) => run.runId))
    if (page.next === null) break
    after = page.next
  }
  expect(found).toEqual(started)
  expect(pages).toBeGreaterThan(1)
})
