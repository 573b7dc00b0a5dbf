import { afterAll, beforeAll, expect, test } from 'vitest'
import { backtestRuns } from '@/server/runs/backtest/run'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { startTestRuntime, type TestRuntime } from '../support/runtime'
import { backtests, inARow, signedIn } from './backtests'

// Scripts that a trial of past runs computes have limits too.

let database: FreshDatabase
let runtime: TestRuntime
beforeAll(async () => {
  database = await freshDatabase()
  runtime = await startTestRuntime(database.url)
})
afterAll(async () => {
  await runtime?.stop()
  await database?.close()
})

const { published, ran, changed } = backtests(() => runtime)

const end = { id: 'end', type: 'end-flow', output: { city: '${city}' } }
const start = { id: 'a', type: 'set-data', values: { i: 0 } }

/** A draft that runs a script this often, and the runs of its version before. */
async function computes(ms: number, times: number, cities: string[]) {
  const id = await published({ payload: { city: { type: 'string' } }, ...inARow(start, end) })
  const runIds: string[] = []
  for (const city of cities) runIds.push(await ran(id, { city }))
  const code = `const t = Date.now(); while (Date.now() - t < ${ms}) {} return args.i + 1`
  const script = { id: 's', type: 'run-script', code, args: { i: '${i}' }, saveAs: 'i', maxVisits: 1_000 }
  await changed(id, {
    steps: [start, script, { id: 'c', type: 'condition', when: `\${i} < ${times}` }, end],
    initialStep: 'a',
    edges: [
      { from: 'a', to: 's' },
      { from: 's', to: 'c' },
      { from: 'c', to: 's', on: 'true' },
      { from: 'c', to: 'end', on: 'false' },
    ],
  })
  const chunk = (ids: string[]) =>
    backtestRuns(
      signedIn(runtime.ctx, 'editor'),
      { id, body: { version: 2, runIds: ids } },
      new AbortController().signal,
    )
  return { runIds, chunk }
}

test('a run whose scripts take more than 5 seconds is not told', async () => {
  const { runIds, chunk } = await computes(300, 60, ['Bonn'])
  const began = performance.now()
  const { runs, left } = await chunk(runIds)
  expect(performance.now() - began).toBeLessThan(9_000)
  expect(left).toEqual([])
  expect(runs[0]?.verdict).toMatchObject({ is: 'untold', needs: { why: 'script', place: { stepId: 's' } } })
}, 40_000)

test('a run for which a chunk has no time left is tried in the next one', async () => {
  const { runIds, chunk } = await computes(250, 4, ['Bonn', 'Köln', 'Ulm'])
  const judged: string[] = []
  for (let left = runIds; left.length > 0; ) {
    const began = performance.now()
    const some = await chunk(left)
    // One run, and the rest of the chunk.
    expect(performance.now() - began).toBeLessThan(3_000)
    expect(some.runs.length).toBeGreaterThan(0)
    judged.push(...some.runs.map(({ verdict }) => verdict.is))
    left = some.left
  }
  expect(judged).toEqual(['same', 'same', 'same'])
}, 40_000)

test('a tenant has three trials under way at most', async () => {
  const { runIds, chunk } = await computes(250, 2, ['Bonn'])
  const all = await Promise.allSettled(Array.from({ length: 5 }, () => chunk(runIds)))
  const refused = all.flatMap((one) => (one.status === 'rejected' ? [one.reason.code] : []))
  expect(refused).toEqual(['UNAVAILABLE', 'UNAVAILABLE'])
}, 40_000)
