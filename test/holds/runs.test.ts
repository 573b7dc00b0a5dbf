import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { LONGEST_HOLD_MS, surelyHeld } from '../support/held'
import { startTestRuntime, type TestRuntime } from '../support/runtime'

// A run processes values near its limits in pieces: nothing else waits for the whole of it.

let database: FreshDatabase
let runtime: TestRuntime

beforeAll(async () => {
  database = await freshDatabase()
  runtime = await startTestRuntime(database.url, { ENCRYPTION_KEY: 'ab'.repeat(32) })
})
afterAll(async () => {
  await runtime?.stop()
  await database?.close()
})

const end = { id: 'end', type: 'end-flow' }
const numbers = (n: number) => Array.from({ length: n }, (_, at) => at)
function chain(steps: { id: string }[]) {
  const all = [...steps, end]
  return { steps: all, edges: all.slice(1).map(({ id }, n) => ({ from: all[n]?.id ?? '', to: id })) }
}
/** Steps that each double a text until it has 2 to the n KB. */
const doublings = (n: number) =>
  chain(
    Array.from({ length: n }, (_, at) => ({
      id: `step_${at}`,
      type: 'set-data',
      values: { text: at === 0 ? 'x'.repeat(1_000) : '${text}${text}' },
    })),
  )

/** Does one step for each item of the list. */
const each = (settings: object) => ({
  payload: { list: { type: 'array' } },
  steps: [
    { id: 'each', type: 'for-each', items: '${list}', ...settings },
    { id: 'one', type: 'set-data', values: { a: '${item}' } },
    end,
  ],
  edges: [
    { from: 'each', to: 'one', on: 'each' },
    { from: 'each', to: 'end', on: 'done' },
  ],
})

const WORKS: Record<string, { definition: object; data?: object }> = {
  'a for-each of 40,000 items': {
    definition: each({ result: '${item}', concurrency: 2 }),
    data: { list: numbers(40_000) },
  },
  'a for-each of 40,000 items, many at once': {
    definition: each({ concurrency: 1_000 }),
    data: { list: numbers(40_000) },
  },
  'a text that doubles until it is refused': { definition: doublings(16) },
  'a list of 45,000 values that are filled in': {
    definition: {
      payload: { a: { type: 'any' } },
      ...chain([
        { id: 'one', type: 'set-data', values: { list: numbers(20_000).map(() => '${a}') } } as { id: string },
      ]),
    },
    data: { a: 'x'.repeat(50) },
  },
  'eight amplifications of a template': {
    definition: {
      payload: { a: { type: 'any' } },
      ...chain(numbers(8).map((n) => ({ id: `step_${n}`, type: 'set-data', values: { text: '${a}'.repeat(30) } }))),
    },
    data: { a: 'x'.repeat(60_000) },
  },
  'a list that is filled in over and over': {
    definition: {
      payload: { a: { type: 'any' } },
      ...chain(
        numbers(4).map((n) => ({
          id: `step_${n}`,
          type: 'set-data',
          values: { [`v${n}`]: numbers(20).map(() => '${a}') },
        })),
      ),
    },
    data: { a: numbers(10_000) },
  },
}

describe(`a run never holds the event loop for more than ${LONGEST_HOLD_MS} ms:`, () => {
  test.each(Object.entries(WORKS))('%s', async (_name, { definition, data }) => {
    const { createWorkflow } = await import('@/server/workflows/lifecycle')
    const { startRun } = await import('@/server/runs/start')
    const { terminateRun } = await import('@/server/runs/terminate')
    const { id } = await createWorkflow(runtime.ctx, { name: 'Hostile', ...definition } as never)
    const mostMs = await surelyHeld(async () => {
      const { runId } = await startRun(runtime.ctx, { workflowId: id, body: (data ?? {}) as never })
      // After that long, it only does more of the same.
      await runtime.wait(runId, undefined, 20_000).catch(() => {})
      await terminateRun(runtime.ctx, { runId }).catch(() => {})
    })
    expect(Math.round(mostMs)).toBeLessThanOrEqual(LONGEST_HOLD_MS)
  })
})
