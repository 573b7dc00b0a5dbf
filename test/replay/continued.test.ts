import { afterAll, beforeAll, expect, test } from 'vitest'
import { backtestRuns } from '@/server/runs/backtest/run'
import { rerunRun } from '@/server/runs/rerun'
import { retryRun } from '@/server/runs/retry'
import { publishWorkflow, updateWorkflow } from '@/server/workflows/lifecycle'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { startTestRuntime, type TestRuntime } from '../support/runtime'
import { backtests, inARow, signedIn } from './backtests'

// A run whose first steps ran on another version is not judged by the steps of its own.

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

const { published, ran, changed, tried } = backtests(() => runtime)

const one = { id: 'one', type: 'set-data', values: { n: 1 } }
const end = { id: 'end', type: 'end-flow', output: { n: '${n}' } }
const failing = { id: 'sum', type: 'set-data', compute: { s: '${city.nothing} * 2' } }
const fine = { id: 'sum', type: 'set-data', values: { s: 2 } }
const payload = { city: { type: 'any' } }

async function again(runId: string, body: object): Promise<string> {
  const retried = await retryRun(runtime.ctx, { runId, body })
  await runtime.wait(retried.runId, undefined, 10_000)
  return retried.runId
}

test('a run that continued one of another version is in no sample, and not told', async () => {
  const id = await published({ payload, ...inARow(one, failing, end) })
  const old = await ran(id, { city: {} })
  const added = { id: 'check', type: 'set-data', values: { checked: true } }
  await updateWorkflow(runtime.ctx, { id, body: inARow(one, added, fine, end) as never })
  await publishWorkflow(runtime.ctx, { id })
  const healed = await again(old, { version: 2 })
  expect((await runtime.status(healed)).workflowVersion).toBe(2)
  expect((await tried(id)).map(({ runId }) => runId)).toEqual([old])
  const ctx = signedIn(runtime.ctx, 'editor')
  const body = { version: 2, runIds: [healed] }
  const { runs } = await backtestRuns(ctx, { id, body }, new AbortController().signal)
  expect(runs.map(({ verdict }) => verdict)).toMatchObject([{ is: 'untold', needs: { why: 'continued' } }])
})

test('a run that continued one of its own version is the same on it', async () => {
  const id = await published({ payload, ...inARow(one, failing, end) })
  const retried = await again(await ran(id, { city: {} }), {})
  const judged = await tried(id)
  expect(judged.map(({ runId }) => runId)).toContain(retried)
  expect(judged.map(({ verdict }) => verdict.is)).toEqual(['same', 'same'])
})

test('what a person changed before a step that is gone is named', async () => {
  const two = { id: 'two', type: 'set-data', values: { x: 1 } }
  const id = await published({ payload, ...inARow(one, two, end) })
  const old = await ran(id, { city: 'Bonn' })
  const { runId } = await rerunRun(runtime.ctx, { runId: old, body: { fromStepId: 'two', data: { n: 5 } } })
  await runtime.wait(runId, undefined, 10_000)
  const assumed = async () => (await tried(id)).map(({ verdict }) => verdict.assumed.map(({ why }) => why))
  expect(await assumed()).toEqual([[], []])
  await changed(id, inARow(one, end))
  expect(await assumed()).toEqual([['edit left out'], []])
})
