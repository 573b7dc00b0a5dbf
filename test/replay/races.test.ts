import { afterAll, beforeAll, expect, test } from 'vitest'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { startTestRuntime, type TestRuntime } from '../support/runtime'
import { backtests } from './backtests'

// The recorded order of branches is no fact about branches that are others now.

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

const quick = { id: 'quick', type: 'set-data', values: { q: 1 } }
const late = { id: 'late', type: 'delay', for: 'PT1S' }
const end = { id: 'end', type: 'end-flow', output: { p: '${p}' } }

/** @param of the branches, by their steps in a row */
function race(wait: string, of: { id: string; [setting: string]: unknown }[][]) {
  const branches = of.map((_, n) => ({ id: `b${n}`, label: `B${n}` }))
  return {
    steps: [{ id: 'p', type: 'parallel', wait, branches }, ...of.flat(), end],
    edges: [
      ...of.map(([first], n) => ({ from: 'p', to: first?.id ?? '', on: `b${n}` })),
      ...of.flatMap((steps) => steps.slice(1).map(({ id }, at) => ({ from: steps[at]?.id ?? '', to: id }))),
      { from: 'p', to: 'end', on: 'done' },
    ],
  }
}

const assumed = async (id: string) =>
  (await tried(id)).map(({ verdict }) => verdict.assumed.map(({ place, why }) => [place.stepId, why]))

test('the order of branches is assumed where it decides a race and a branch is another one or new', async () => {
  const id = await published(race('any', [[quick], [late]]))
  await ran(id)
  expect(await assumed(id)).toEqual([[]])
  await changed(id, race('any', [[{ id: 'wait', type: 'delay', for: 'PT3S' }, quick], [late]]))
  expect(await assumed(id)).toEqual([[['p', 'order']]])
  await changed(id, race('any', [[quick], [late], [{ id: 'fast', type: 'set-data', values: { y: 1 } }]]))
  expect(await assumed(id)).toEqual([[['p', 'order']]])
})

test('where all branches count, their order decides nothing', async () => {
  const id = await published(race('all', [[quick], [late]]))
  await ran(id)
  await changed(id, race('all', [[{ ...quick, values: { q: 2 } }], [late]]))
  expect(await assumed(id)).toEqual([[]])
})
