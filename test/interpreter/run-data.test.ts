import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { JsonObject } from '@/server/definition/json'
import { MAX_DATA_BYTES } from '@/server/definition/limits'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { startEffects } from '../support/effects'
import { forge } from '../support/invariants/finality'
import { startTestRuntime, type TestRuntime } from '../support/runtime'
import { bothWays } from './gap'

// Large fields of run data are stored where they were written. No reader of a run may notice.

let database: FreshDatabase
let runtime: TestRuntime
beforeAll(async () => {
  database = await freshDatabase()
  runtime = await startTestRuntime(database.url)
})
afterAll(async () => {
  // Checks, for every run below, that its data is what its steps have written.
  await runtime.stop()
  await database.close()
})

const LARGE = 'x'.repeat(50_000)
const OTHER = 'y'.repeat(60_000)
const set = (id: string, values: object) => ({ id, type: 'set-data', values })
const line = (...ids: string[]) => ids.slice(1).map((to, at) => ({ from: ids[at], to }))

async function stored(runId: string) {
  const [row] = await database.sql`select data, data_refs as refs from runs where id = ${runId}`
  return row as { data: JsonObject; refs: Record<string, { stepId?: string; visit?: number }> | null }
}

describe('a large field of run data', () => {
  test('is stored once, where it was written, and read as if it were in the run', async () => {
    await bothWays(async () => {
      const runId = await runtime.start(
        {
          name: 'Large',
          payload: { given: { type: 'string' }, n: { type: 'number' } },
          initialStep: 'big',
          steps: [
            set('big', { big: LARGE }),
            { id: 'ask', type: 'collect-inputs', output: { more: { type: 'string' } } },
            { id: 'sizes', type: 'set-data', compute: { sizes: '[size(${big}), size(${given}), size(${more})]' } },
          ],
          edges: line('big', 'ask', 'sizes'),
        },
        { given: OTHER, n: 1 },
      )
      const { resumeRun } = await import('@/server/runs/resume')
      const paused = await runtime.wait(runId, ({ status }) => status === 'paused')
      expect(paused.data).toEqual({ big: LARGE, given: OTHER, n: 1 })
      await resumeRun(runtime.ctx, { runId, body: { type: 'collect_inputs', data: { more: LARGE } } })
      const run = await runtime.wait(runId)
      const data = { big: LARGE, given: OTHER, more: LARGE, n: 1, sizes: [50_000, 60_000, 50_000] }
      expect([run.data, run.result]).toEqual([data, data])
      const { data: small, refs } = await stored(runId)
      expect(small).toEqual({ n: 1, sizes: data.sizes })
      expect(refs).toMatchObject({ big: { stepId: 'big', visit: 1 }, more: { stepId: 'ask', visit: 1 } })
      expect(Object.keys(refs?.given ?? {})).toEqual(['bytes'])
      const { readWholeValue } = await import('@/server/runs/whole-value')
      expect(await readWholeValue(runtime.ctx, { of: 'run', runId, field: 'data' })).toEqual({ value: data })
    })
  })

  test('is the last written value, large or small', async () => {
    const runId = await runtime.start({
      name: 'Again',
      initialStep: 'one',
      steps: [set('one', { a: LARGE, b: LARGE }), set('two', { a: 'small', b: OTHER }), set('three', { c: '${b}' })],
      edges: line('one', 'two', 'three'),
    })
    expect((await runtime.wait(runId)).data).toEqual({ a: 'small', b: OTHER, c: OTHER })
    const { data, refs } = await stored(runId)
    expect([data, Object.keys(refs ?? {})]).toEqual([{ a: 'small' }, ['b', 'c']])
  })

  test('counts towards the bound on run data as before', async () => {
    const { dataSize, refsWith } = await import('@/server/run-store/run-data')
    const { withDelta } = await import('@/server/interpreter/flow/sizes')
    const data = { a: LARGE, 'b ä"': [OTHER, { é: LARGE }], c: 1 }
    const refs = refsWith({}, data, {})
    expect(Object.keys(refs)).toEqual(['a', 'b ä"'])
    expect(Math.abs(dataSize({ data, refs }) - Buffer.byteLength(JSON.stringify(data)))).toBeLessThan(3)
    const ref = { tenantId: 't', runId: 'r', branch: 'main', epoch: 1, segment: 1 }
    let grown: Parameters<typeof withDelta>[0] = { data: {}, refs: {}, own: null }
    const grow = () => {
      for (let n = 0; ; n++) grown = withDelta(grown, { [`f${n}`]: OTHER }, ref, { stepId: 's', visit: n })
    }
    expect(grow).toThrow(/run data would be larger/)
    expect(Buffer.byteLength(JSON.stringify(grown.data))).toBeGreaterThan(MAX_DATA_BYTES - 2 * OTHER.length)
  })

  test('is there in branches, in their results, and after them', async () => {
    await bothWays(async () => {
      const definition = {
        name: 'Branches',
        initialStep: 'big',
        steps: [
          set('big', { big: LARGE }),
          {
            id: 'both',
            type: 'parallel',
            branches: [{ id: 'left' }, { id: 'right' }],
          },
          set('l', { left: OTHER }),
          { id: 'wait', type: 'request-user-action', actions: [{ id: 'go', label: 'Go' }] },
          { id: 'l2', type: 'set-data', compute: { seen: '[size(${left}), size(${big})]' } },
          set('r', { right: '${big}' }),
          { id: 'each', type: 'for-each', items: [1, 2], result: '${mine}' },
          set('own', { mine: '${big}${item}' }),
          { id: 'end', type: 'end-flow', output: { left: '${left}', right: '${right}', each: '${each.results}' } },
        ],
        edges: [
          { from: 'big', to: 'both' },
          { from: 'both', to: 'l', on: 'left' },
          ...line('l', 'wait', 'l2'),
          { from: 'both', to: 'r', on: 'right' },
          { from: 'both', to: 'each', on: 'done' },
          { from: 'each', to: 'own', on: 'each' },
          { from: 'each', to: 'end', on: 'done' },
        ],
      }
      const runId = await runtime.start(definition)
      await runtime.wait(runId, ({ status }) => status === 'paused')
      const { getTask } = await import('@/server/views/tasks/get')
      const task = await getTask(runtime.ctx, { runId, pauseId: 'wait' })
      expect(task.run.data.size).toBeGreaterThan(LARGE.length + OTHER.length)
      const { resumeRun } = await import('@/server/runs/resume')
      await resumeRun(runtime.ctx, { runId, body: { type: 'request_user_action', actionId: 'go' } })
      const run = await runtime.wait(runId)
      expect(run.error).toBeNull()
      expect(run.result).toEqual({ left: OTHER, right: LARGE, each: [`${LARGE}1`, `${LARGE}2`] })
      expect(run.data).toMatchObject({ left: OTHER, right: LARGE, seen: [60_000, 50_000] })
      const rows = await database.sql`select max(length(data::text)) as most from walks where run_id = ${runId}`
      expect(Number(rows[0]?.most)).toBeLessThan(1_000)
    })
  })

  test('goes along into a retry and a rerun, as an edit too', async () => {
    const effects = await startEffects(() => ({ status: 422 }))
    const { retryRun } = await import('@/server/runs/retry')
    const { rerunRun } = await import('@/server/runs/rerun')
    const runId = await runtime.start(
      {
        name: 'Once more',
        payload: { given: { type: 'string' } },
        initialStep: 'big',
        steps: [
          set('big', { big: LARGE }),
          { id: 'post', type: 'http-request', method: 'GET', url: effects.url },
          set('end', { end: 1 }),
        ],
        edges: line('big', 'post', 'end'),
      },
      { given: OTHER },
    )
    await runtime.wait(runId)
    const data = { big: LARGE, given: OTHER }
    const { runId: retried } = await retryRun(runtime.ctx, { runId })
    expect((await runtime.wait(retried)).data).toEqual(data)
    expect(await stored(retried)).toMatchObject({ data: {}, refs: { big: { stepId: 'big', visit: 1 } } })
    const body = { fromStepId: 'post', data: { given: LARGE } }
    const { runId: rerun } = await rerunRun(runtime.ctx, { runId: retried, body })
    expect((await runtime.wait(rerun)).data).toEqual({ big: LARGE, given: LARGE })
    const { runId: again } = await rerunRun(runtime.ctx, { runId: rerun, body: { fromStepId: 'end' } }).catch(() =>
      retryRun(runtime.ctx, { runId: rerun }),
    )
    expect((await runtime.wait(again)).data).toEqual({ big: LARGE, given: LARGE })
    await effects.stop()
  })

  test('is what a process of an older release wrote, which knows no references', async () => {
    const { resumeRun } = await import('@/server/runs/resume')
    const ask = (id: string) => ({ id, type: 'request-user-action', actions: [{ id: 'go', label: 'Go' }] })
    const runId = await runtime.start({
      name: 'Older',
      initialStep: 'big',
      steps: [
        set('big', { big: LARGE }),
        ask('one'),
        set('seen', { seen: '${big}' }),
        ask('two'),
        set('end', { end: 1 }),
      ],
      edges: line('big', 'one', 'seen', 'two', 'end'),
    })
    const answer = async (stepId: string) => {
      await runtime.wait(runId, ({ status, currentStepId }) => status === 'paused' && currentStepId === stepId)
      await resumeRun(runtime.ctx, { runId, body: { type: 'request_user_action', stepId, actionId: 'go' } })
    }
    await runtime.wait(runId, ({ status }) => status === 'paused')
    // Its record would show it too.
    await forge(database.sql, [runId])
    await database.sql`update runs set data = data || '{"big":"new"}' where id = ${runId}`
    await answer('one')
    await answer('two')
    expect((await runtime.wait(runId)).data).toMatchObject({ big: 'new', seen: 'new', end: 1 })
  })

  test('stays with a run that is stopped, and with its cleanup', async () => {
    const { cancelRun } = await import('@/server/runs/cancel')
    const runId = await runtime.start({
      name: 'Stopped',
      initialStep: 'big',
      steps: [
        set('big', { big: LARGE }),
        { id: 'ask', type: 'request-user-action', actions: [{ id: 'go', label: 'Go' }] },
        set('clean', { cleaned: '${big}' }),
      ],
      edges: line('big', 'ask'),
      onCancel: 'clean',
    })
    await runtime.wait(runId, ({ status }) => status === 'paused')
    await cancelRun(runtime.ctx, { runId })
    const run = await runtime.wait(runId)
    expect([run.outcome, run.data]).toEqual(['cancelled', { big: LARGE, cleaned: LARGE }])
  })
})

test('large values that were read are cached up to a bound, and those read last stay', async () => {
  const { CachedValues } = await import('@/server/run-store/large-values')
  const cached = new CachedValues(100)
  cached.set('a', 'A', 40)
  cached.set('b', null, 40)
  expect([cached.get('a'), cached.get('b')?.value]).toMatchObject([{ value: 'A' }, null])
  cached.get('a')
  cached.set('c', 'C', 40)
  cached.set('large', 'L', 60)
  expect(['a', 'b', 'c', 'large'].filter((key) => cached.get(key))).toEqual(['a', 'c'])
})
