import { afterAll, beforeAll, expect, test } from 'vitest'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { startTestRuntime, type TestRuntime } from '../support/runtime'
import { backtests, inARow } from './backtests'

// How much of a run is read counts as it is read, and not as the database compresses it.

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

const { published, ran, tried } = backtests(() => runtime)

test('a run whose outputs are large, but compress well, is too large', async () => {
  const code = (times: number) => `return 'abcdefgh'.repeat(${times})`
  const outputs = (times: number) =>
    Array.from({ length: 6 }, (_, n) => ({
      id: `s${n}`,
      type: 'run-script',
      code: code(times),
      args: {},
      saveAs: 'text',
    }))
  const end = { id: 'end', type: 'end-flow', output: {} }
  const [large, small] = [
    await published(inARow(...outputs(110_000), end)),
    await published(inARow(...outputs(10), end)),
  ]
  for (const id of [large, small]) await ran(id)
  const [{ stored } = { stored: 0 }] = await database.sql`
    select sum(pg_column_size(output_data) + pg_column_size(delta))::int as stored from step_records`
  expect(stored).toBeLessThan(1_000_000)
  expect((await tried(large)).map(({ verdict }) => verdict)).toMatchObject([
    { is: 'untold', needs: { why: 'too large' } },
  ])
  expect((await tried(small)).map(({ verdict }) => verdict.is)).toEqual(['same'])
})
