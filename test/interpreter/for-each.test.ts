import { afterAll, beforeAll, expect, test } from 'vitest'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { rounds } from '../support/rounds'
import { startTestRuntime, type TestRuntime } from '../support/runtime'
import { bothWays } from './gap'

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

const set = (id: string, values: object = { [id]: id }) => ({ id, type: 'set-data', values })
const on = (from: string, exit: string, to: string) => ({ from, to, on: exit })
const each = (more: object) => ({ id: 'each', type: 'for-each', items: '${list}', ...more })
const list = { list: { type: 'array' } }

test('collects the results in the order of the items, however many run at once', async () => {
  await bothWays(async () => {
    for (const concurrency of [1, 3, 100]) {
      const runId = await runtime.start(
        {
          payload: list,
          steps: [
            each({ concurrency, result: '${twice}', saveAs: 'all' }),
            { id: 'double', type: 'set-data', compute: { twice: '${item} * 2 + ${index}' } },
            set('end', { last: '${all.results[4]}' }),
          ],
          edges: [on('each', 'each', 'double'), on('each', 'done', 'end')],
        },
        { list: [5, 4, 3, 2, 1] },
      )
      const run = await runtime.wait(runId)
      expect(run).toMatchObject({
        status: 'completed',
        data: { all: { results: [10, 9, 8, 7, 6], errors: [], count: 5 }, last: 6 },
      })
      expect(run.data).not.toHaveProperty('twice')
      expect(run.data).not.toHaveProperty('item')
      expect(run.stepExecutionHistory.flatMap(({ iteration }) => iteration ?? []).toSorted()).toEqual([0, 1, 2, 3, 4])
    }
  })
})

test('one after the other begins an item only after the one before has ended', async () => {
  const runId = await runtime.start(
    {
      payload: list,
      steps: [each({}), { id: 'wait', type: 'delay', for: 'PT0.05S' }],
      edges: [on('each', 'each', 'wait')],
    },
    { list: [1, 2, 3] },
  )
  const run = await runtime.wait(runId)
  const items = run.stepExecutionHistory.filter(({ stepId }) => stepId === 'wait')
  expect(items).toHaveLength(3)
  for (const [at, item] of items.entries())
    if (at > 0) expect(item.startTime >= (items[at - 1]?.endTime ?? '~')).toBe(true)
})

test('continues with the other items, and says which failed', async () => {
  const definition = (more: object) => ({
    payload: list,
    steps: [each({ ...more, result: '${item}' }), { id: 'check', type: 'condition', when: '1 / ${item} > 0' }],
    edges: [on('each', 'each', 'check')],
  })
  const run = await runtime.wait(await runtime.start(definition({ onItemError: 'continue' }), { list: [1, 0, 2] }))
  expect(run).toMatchObject({
    outcome: 'succeeded',
    data: { each: { results: [1, null, 2], errors: [{ index: 1, code: 'EXPRESSION_FAILED' }], count: 3 } },
  })
  const stopped = await runtime.wait(await runtime.start(definition({}), { list: [1, 0, 2] }))
  expect(stopped).toMatchObject({ outcome: 'failed', error: { code: 'EXPRESSION_FAILED', stepId: 'check' } })
  expect(stopped.stepExecutionHistory.filter(({ stepId }) => stepId === 'check')).toHaveLength(2)
})

test('of no items is done at once; of no list it fails', async () => {
  const definition = {
    payload: { list: { type: 'any' } },
    steps: [each({ result: '${item}' }), set('one'), set('end')],
    edges: [on('each', 'each', 'one'), on('each', 'done', 'end')],
  }
  expect(await runtime.wait(await runtime.start(definition, { list: [] }))).toMatchObject({
    data: { each: { results: [], errors: [], count: 0 }, end: 'end' },
  })
  expect(await runtime.wait(await runtime.start(definition, { list: 7 }))).toMatchObject({
    outcome: 'failed',
    error: { code: 'INVALID_CONFIG', stepId: 'each' },
  })
})

test('takes several items at a time, can be nested in a branch, and a result that cannot be computed fails the item', async () => {
  const runId = await runtime.start(
    {
      payload: { ...list, m: { type: 'number', required: false } },
      steps: [
        { id: 'checks', type: 'parallel', branches: [{ id: 'a' }, { id: 'b' }] },
        each({ batch: 2, result: { pair: '${item}', at: '${index}' } }),
        set('one'),
        { id: 'odd', type: 'for-each', items: '${list}', result: '${m}', onItemError: 'continue', saveAs: 'odd' },
        set('two', { maybe: 1 }),
      ],
      edges: [on('checks', 'a', 'each'), on('each', 'each', 'one'), on('checks', 'b', 'odd'), on('odd', 'each', 'two')],
    },
    { list: [1, 2, 3] },
  )
  const run = await runtime.wait(runId)
  expect(run).toMatchObject({
    outcome: 'succeeded',
    data: {
      each: {
        results: [
          { pair: [1, 2], at: 0 },
          { pair: [3], at: 1 },
        ],
        count: 2,
      },
      odd: { errors: [0, 1, 2].map((index) => ({ index, code: 'EXPRESSION_UNRESOLVED' })) },
    },
  })
})

test('a cancel leaves nothing of the items that were still to come', async () => {
  const { cancelRun } = await import('@/server/runs/cancel')
  const runId = await runtime.start(
    {
      payload: list,
      steps: [each({ concurrency: 3 }), { id: 'wait', type: 'delay', for: 'PT1H' }],
      edges: [on('each', 'each', 'wait')],
    },
    { list: Array.from({ length: 5_000 }, (_, at) => at) },
  )
  await runtime.wait(runId, ({ stepExecutionHistory }) => stepExecutionHistory.length === 4)
  await cancelRun(runtime.ctx, { runId })
  expect(await runtime.wait(runId)).toMatchObject({ outcome: 'cancelled' })
  const walks = await database.sql`select branch from walks where run_id = ${runId} and status <> 'ended'`
  expect(walks).toEqual([])
})

test('each of many lanes that wait for a person is woken once, by its own answer', async () => {
  const { resumeRun } = await import('@/server/runs/resume')
  const count = rounds(40, 200)
  const ask = { id: 'ask', type: 'request-user-action', actions: [{ id: 'go', label: 'Go' }] }
  const runId = await runtime.start(
    {
      payload: list,
      steps: [each({ concurrency: count }), ask, set('after')],
      edges: [on('each', 'each', 'ask'), { from: 'ask', to: 'after' }],
    },
    { list: Array.from({ length: count }, (_, n) => n) },
  )
  const { pauseSignals } = await runtime.wait(runId, (run) => run.pauseSignals.length === count)
  for (const { id } of pauseSignals)
    await resumeRun(runtime.ctx, { runId, body: { type: 'request_user_action', actionId: 'go', pauseId: id } })
  await runtime.wait(runId)
  const lanes = await database.sql`
    select segment, count(*)::int as lanes from walks where run_id = ${runId} and scope is not null group by segment`
  // One engine run up to the pause, and one after it.
  expect(lanes.map((row) => ({ ...row }))).toEqual([{ segment: 2, lanes: count }])
})
