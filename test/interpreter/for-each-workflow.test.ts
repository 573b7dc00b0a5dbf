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

/** A published workflow that doubles `n`, waits for a person where `asks`, and fails for 2. */
async function doubles(asks = false): Promise<string> {
  const { createWorkflow, publishWorkflow } = await import('@/server/workflows/lifecycle')
  const { id } = await createWorkflow(runtime.ctx, {
    name: 'Doubles',
    payload: { n: { type: 'number' } },
    initialStep: asks ? 'ask' : 'two',
    steps: [
      { id: 'ask', type: 'request-user-action', actions: [{ id: 'go', label: 'Go' }] },
      { id: 'two', type: 'condition', when: '${n} == 2' },
      { id: 'no', type: 'fail-flow', code: 'TWO', message: 'Not two' },
      { id: 'calc', type: 'set-data', compute: { double: '${n} * 2' } },
      { id: 'end', type: 'end-flow', output: { double: '${double}' } },
    ],
    edges: [
      { from: 'ask', to: 'two' },
      { from: 'two', to: 'no', on: 'true' },
      { from: 'two', to: 'calc', on: 'false' },
      { from: 'calc', to: 'end' },
    ],
  })
  await publishWorkflow(runtime.ctx, { id })
  return id
}

const definition = (each: object) => ({
  name: 'All',
  payload: { list: { type: 'array' }, base: { type: 'number', required: false, default: 0 } },
  initialStep: 'all',
  steps: [
    { id: 'all', type: 'for-each', items: '${list}', input: { n: '${item}' }, ...each },
    { id: 'end', type: 'end-flow', output: { all: '${all}' } },
  ],
  edges: [{ from: 'all', to: 'end', on: 'done' }],
})

describe('a for-each that names a workflow', () => {
  test('runs it for every item, and collects the results in order', async () => {
    const workflowId = await doubles()
    const runId = await runtime.start(definition({ workflowId, concurrency: 2 }), { list: [5, 1, 3] })
    const run = await runtime.wait(runId)
    const results = [10, 2, 6].map((double) => ({ double }))
    expect(run.result).toEqual({ all: { results, errors: [], count: 3 } })
    const rows = await database.sql`select input->'n' as n from runs where parent_run_id = ${runId} order by n`
    expect(rows.map(({ n }) => n)).toEqual([1, 3, 5])
    expect(run.stepExecutionHistory.filter(({ stepType }) => stepType === 'run-workflow')).toHaveLength(3)
  })

  test('collects `result` as configured, and continues after an item that fails', async () => {
    const workflowId = await doubles()
    const each = { workflowId, result: '${result.double}', onItemError: 'continue' }
    const run = await runtime.wait(await runtime.start(definition(each), { list: [1, 2, 3] }))
    expect(run.result).toMatchObject({
      all: { results: [2, null, 6], errors: [{ index: 1, code: 'CHILD_FAILED' }], count: 3 },
    })
  })

  test('stops all of them with its run', async () => {
    const { cancelRun } = await import('@/server/runs/cancel')
    const workflowId = await doubles(true)
    const runId = await runtime.start(definition({ workflowId, concurrency: 3 }), { list: [1, 2, 3] })
    const children = () => database.sql`select id, outcome from runs where parent_run_id = ${runId}`
    await expect.poll(async () => (await children()).length).toBe(3)
    await cancelRun(runtime.ctx, { runId })
    expect(await runtime.wait(runId)).toMatchObject({ outcome: 'cancelled' })
    await expect.poll(async () => (await children()).map(({ outcome }) => outcome)).toEqual(Array(3).fill('cancelled'))
  })

  test('is checked like the step that runs a workflow', async () => {
    const { checkDefinition } = await import('@/server/workflows/check/definition')
    const { newDefinition } = await import('@/server/workflows/definition')
    const workflowId = await doubles()
    const problems = async (each: object, more: object = {}) => {
      const found = await checkDefinition(runtime.ctx, newDefinition({ ...definition(each), ...more } as never))
      return found.map(({ code, stepId, field }) => `${code} ${stepId} ${field}`)
    }
    expect(await problems({ workflowId })).toEqual([])
    expect(await problems({ workflowId: 'wf_none' })).toEqual(['WORKFLOW_NOT_FOUND all workflowId'])
    expect(await problems({ workflowId, input: {} })).toEqual(['W_WORKFLOW_INPUT all input.n'])
    expect(await problems({ workflowId, input: { n: '${nothing}' } })).toEqual(['EXPRESSION_UNRESOLVED all input.n'])
    const edges = [
      { from: 'all', to: 'end', on: 'done' },
      { from: 'all', to: 'calc', on: 'each' },
    ]
    const steps = [...definition({ workflowId }).steps, { id: 'calc', type: 'set-data', values: { a: 1 } }]
    expect(await problems({}, { steps, edges })).toContain('INVALID_CONFIG all workflowId')
  })

  test('offers the item in the fields of its input alone', async () => {
    const { scopeOf } = await import('@/server/workflows/check/scope')
    const { newDefinition } = await import('@/server/workflows/definition')
    const { entries } = scopeOf(newDefinition(definition({ workflowId: await doubles() }) as never), 'all')
    expect(entries.filter(({ only }) => only === 'input').map(({ name }) => name)).toEqual(['item', 'index'])
    expect(entries.map(({ name }) => name)).toContain('list')
  })
})
