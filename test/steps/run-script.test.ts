import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { startTestRuntime, type TestRuntime } from '../support/runtime'

let database: FreshDatabase
let runtime: TestRuntime
beforeAll(async () => {
  database = await freshDatabase()
  runtime = await startTestRuntime(database.url)
})
afterAll(async () => {
  await runtime.stop()
  await database.close()
})

const script = (code: string, more: object = {}) => ({ id: 'do', type: 'run-script', code, ...more })

describe('run-script', () => {
  test('runs the code as it is written, with its arguments filled in', async () => {
    const code = 'return { total: args.lines.reduce((sum, n) => sum + n, 0), text: `${args.lines.length} lines` }'
    const runId = await runtime.start(
      { payload: { lines: { type: 'array' } }, steps: [script(code, { args: { lines: '${lines}' } })] },
      { lines: [1, 2, 3] },
    )
    const run = await runtime.wait(runId)
    expect(run).toMatchObject({ status: 'completed', data: { total: 6, text: '3 lines' } })
    expect(run.stepExecutionHistory[0]).toMatchObject({ inputData: { args: { lines: [1, 2, 3] } } })
  })

  test('fails with the script’s own error, which the error exit catches', async () => {
    const definition = {
      steps: [
        script('throw new Error("no stock")'),
        { id: 'mend', type: 'set-data', values: { why: '${error.message}' } },
      ],
      edges: [{ from: 'do', to: 'mend', on: 'error' }],
    }
    const run = await runtime.wait(await runtime.start(definition))
    expect(run).toMatchObject({ status: 'completed', data: { why: 'no stock' } })
    expect(run.stepExecutionHistory[0]).toMatchObject({ errorCode: 'EXECUTION_ERROR', attempt: 1 })
  })

  test('has no fetch unless hosts are allowed', async () => {
    const run = await runtime.wait(await runtime.start({ steps: [script('return typeof fetch')] }))
    expect(run.data).toEqual({ do: 'undefined' })
  })
})
