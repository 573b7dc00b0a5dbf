import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { EventValue } from '@/server/definition/event'
import type { PresentedRun } from '@/server/runs/present'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { rounds } from '../support/rounds'
import { startTestRuntime, type TestRuntime } from '../support/runtime'
import { bothWays, throughTheSdk } from './gap'

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

let names = 0
const fresh = () => `event-${++names}`

const wait = (event: string, more: object = {}) => ({
  id: 'wait',
  type: 'wait-for-event',
  event,
  saveAs: 'got',
  ...more,
})
const ask = { id: 'ask', type: 'request-user-action', actions: [{ id: 'go', label: 'Go' }] }

async function post(event: object): Promise<string> {
  const { postEvent } = await import('@/server/events/post')
  return (await postEvent(runtime.ctx, event)).eventId
}

async function answer(runId: string) {
  const { resumeRun } = await import('@/server/runs/resume')
  await resumeRun(runtime.ctx, { runId, body: { type: 'request_user_action', actionId: 'go' } })
}

/** Until the run waits there, and has examined earlier events. */
async function waiting(...runIds: string[]): Promise<void> {
  await expect
    .poll(async () => {
      const rows = await database.sql`
          select run_id from pauses where run_id = any(${runIds}) and looked and answered_at is null`
      return rows.length
    })
    .toBe(runIds.length)
}

/** Until every event has been offered to all runs that waited for it. */
async function delivered(): Promise<void> {
  await expect.poll(() => database.sql`select id from events where delivered_at is null`).toHaveLength(0)
}

const gotBy = ({ data }: PresentedRun) => (data as { got: EventValue }).got

const grown = (count: number) =>
  Array.from({ length: count }, (_, n) => ({
    id: `g${n}`,
    type: 'set-data',
    values: { [`a${n}`]: '${part}', [`b${n}`]: '${part}' },
  }))
const grownEdges = (count: number, to: string) =>
  Array.from({ length: count }, (_, n) => ({ from: `g${n}`, to: n === count - 1 ? to : `g${n + 1}` }))

describe('a wait for an event', () => {
  test('takes an event that is posted while it waits; the run is running, and nobody is asked', async () => {
    await bothWays(async () => {
      const name = fresh()
      const runId = await runtime.start({ steps: [wait(name)] })
      await waiting(runId)
      expect(await runtime.status(runId)).toMatchObject({ status: 'running', pauseSignal: null, pauseSignals: [] })
      await expect(answer(runId)).rejects.toMatchObject({ code: 'RUN_NOT_PAUSED' })
      const id = await post({ name, data: { amount: 120 } })
      const run = await runtime.wait(runId)
      expect(gotBy(run)).toMatchObject({ id, name, key: null, data: { amount: 120 } })
      expect(run.stepExecutionHistory[0]).toMatchObject({
        ...{ stepId: 'wait', status: 'completed', inputData: { event: name }, outputData: { id } },
      })
    })
  })

  test('takes an event that was posted after the run began and before it came to the step: the oldest one', async () => {
    await bothWays(async () => {
      const name = fresh()
      await post({ name, data: { n: 'before the run' } })
      await sleep(5)
      const runId = await runtime.start({ steps: [ask, wait(name)], edges: [{ from: 'ask', to: 'wait' }] })
      await runtime.wait(runId, ({ status }) => status === 'paused')
      await post({ name, data: { n: 1 } })
      await post({ name, data: { n: 2 } })
      await delivered()
      await answer(runId)
      expect(gotBy(await runtime.wait(runId)).data).toEqual({ n: 1 })
    })
  })

  test('with since: step only takes events that are posted after it began', async () => {
    const name = fresh()
    const steps = [ask, wait(name, { since: 'step' })]
    const runId = await runtime.start({ steps, edges: [{ from: 'ask', to: 'wait' }] })
    await runtime.wait(runId, ({ status }) => status === 'paused')
    await post({ name, data: { n: 1 } })
    await delivered()
    await sleep(5)
    await answer(runId)
    await waiting(runId)
    await post({ name, data: { n: 2 } })
    expect(gotBy(await runtime.wait(runId)).data).toEqual({ n: 2 })
  })

  test('takes only its own key; without one it takes any', async () => {
    const name = fresh()
    const definition = { payload: { order: { type: 'number' } }, steps: [wait(name, { key: '${order}' })] }
    const [one, two, any] = [
      await runtime.start(definition, { order: 1 }),
      await runtime.start(definition, { order: 2 }),
      await runtime.start({ steps: [wait(name)] }),
    ]
    await waiting(one, two, any)
    await post({ name, key: 2, data: { for: 'two' } })
    expect(gotBy(await runtime.wait(two))).toMatchObject({ key: '2', data: { for: 'two' } })
    expect(gotBy(await runtime.wait(any))).toMatchObject({ key: '2' })
    await post({ name, data: { for: 'nobody' } })
    await delivered()
    expect(await runtime.status(one)).toMatchObject({ status: 'running', currentStepId: 'wait' })
    await post({ name, key: '1' })
    expect(gotBy(await runtime.wait(one))).toMatchObject({ key: '1', data: {} })
  })

  test('takes only an event for which `when` is true, with the data the run had; one without a value does no harm', async () => {
    await bothWays(async () => {
      const name = fresh()
      const when = '${event.data.amount} >= ${total} && ${event.key} == ${_.order} && !has(${nothing})'
      const runId = await runtime.start(
        {
          payload: { order: { type: 'string' }, total: { type: 'number' } },
          steps: [wait(name, { when })],
        },
        { order: 'A', total: 100 },
      )
      await waiting(runId)
      for (const data of [{}, { amount: 'many' }, { amount: 99 }]) await post({ name, key: 'A', data })
      await post({ name, key: 'B', data: { amount: 500 } })
      await delivered()
      expect(await runtime.status(runId)).toMatchObject({ status: 'running', currentStepId: 'wait' })
      await post({ name, key: 'A', data: { amount: 100 } })
      expect(gotBy(await runtime.wait(runId)).data).toEqual({ amount: 100 })
    })
  })

  test('looks once it is committed, also of a run that was started in a transaction', async () => {
    const { withTransaction } = await import('@/server/context')
    const { createWorkflow } = await import('@/server/workflows/lifecycle')
    const { startRun } = await import('@/server/runs/start')
    const name = fresh()
    const { id } = await createWorkflow(runtime.ctx, { name: 'Test', steps: [wait(name)] })
    const { runId } = await withTransaction(runtime.ctx, (tx) => startRun(tx, { workflowId: id, body: {} }))
    await waiting(runId)
    await post({ name })
    await runtime.wait(runId)
  })

  test('in a loop takes each event once', async () => {
    const name = fresh()
    const runId = await runtime.start({
      steps: [wait(name, { maxVisits: 4 }), { id: 'more', type: 'condition', when: '${got.data.n} < 3' }],
      edges: [
        { from: 'wait', to: 'more' },
        { from: 'more', to: 'wait', on: 'true' },
      ],
    })
    for (const n of [1, 2, 3]) await post({ name, data: { n } })
    const run = await runtime.wait(runId)
    const taken = run.stepExecutionHistory.filter(({ stepId }) => stepId === 'wait')
    expect(taken.map(({ outputData }) => (outputData as EventValue).data)).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }])
  })

  test('in branches takes each event once: as many events as branches are needed', async () => {
    const name = fresh()
    const runId = await runtime.start({
      steps: [{ id: 'each', type: 'for-each', items: [1, 2, 3], concurrency: 3, result: '${got.data.n}' }, wait(name)],
      edges: [{ from: 'each', to: 'wait', on: 'each' }],
    })
    await expect.poll(() => database.sql`select id from pauses where run_id = ${runId} and looked`).toHaveLength(3)
    for (const n of [1, 2]) await post({ name, data: { n } })
    await delivered()
    await sleep(100)
    expect(await runtime.status(runId)).toMatchObject({ status: 'running' })
    await post({ name, data: { n: 3 } })
    const run = await runtime.wait(runId)
    expect([...(run.data as { each: { results: number[] } }).each.results].sort()).toEqual([1, 2, 3])
  })

  test('takes `timeout` when none comes in time, and fails as timed out without that exit', async () => {
    await bothWays(async () => {
      const step = wait(fresh(), { expiresIn: 'PT0.4S' })
      const late = { id: 'late', type: 'set-data', values: { at: 'late' } }
      const caught = await runtime.start({
        steps: [step, late],
        edges: [{ from: 'wait', to: 'late', on: 'timeout' }],
      })
      expect(await runtime.wait(caught)).toMatchObject({
        status: 'completed',
        data: { at: 'late', error: { code: 'TIMED_OUT', message: 'No matching event came in time.' } },
      })
      const error = { code: 'TIMED_OUT', message: 'No matching event came in time.', stepId: 'wait' }
      const failed = await runtime.wait(await runtime.start({ steps: [step] }))
      expect(failed).toMatchObject({ status: 'failed', outcome: 'timed_out', error })
    })
  })

  test('takes an event that came in time, even if it is not delivered yet when time is up', async () => {
    await bothWays(async () => {
      const name = fresh()
      const runId = await runtime.start({ steps: [wait(name, { expiresIn: 'PT1.5S' })] })
      await waiting(runId)
      // As if its delivery were late.
      await database.sql`
        insert into events (tenant_id, id, name, data, posted_by) values ('ten_test', ${name}, ${name}, '{}', 'test')`
      expect(gotBy(await runtime.wait(runId))).toMatchObject({ id: name })
      await database.sql`update events set delivered_at = now() where id = ${name}`
    })
  })

  test('fails, or takes its error exit, when the event would make run data too large', async () => {
    const name = fresh()
    const part = 'x'.repeat(900 * 1024)
    const caught = { id: 'caught', type: 'set-data', values: { caught: '${error.code}' } }
    const runId = await runtime.start(
      {
        payload: { part: { type: 'string' } },
        // Together nine parts: 7.9 MiB of the 8.
        steps: [...grown(4), wait(name), caught],
        edges: [...grownEdges(4, 'wait'), { from: 'wait', to: 'caught', on: 'error' }],
      },
      { part },
    )
    await waiting(runId)
    await post({ name, data: { big: 'x'.repeat(200 * 1024) } })
    const run = await runtime.wait(runId)
    expect(run.stepExecutionHistory.slice(-2)).toMatchObject([
      { stepId: 'wait', status: 'failed', errorCode: 'DATA_TOO_LARGE', handled: true, exit: 'error' },
      { stepId: 'caught', status: 'completed', outputData: { caught: 'DATA_TOO_LARGE' } },
    ])
  })

  test('is stopped with its run, and a later event starts nothing', async () => {
    const name = fresh()
    const runId = await runtime.start({ steps: [wait(name)] })
    await waiting(runId)
    const { cancelRun } = await import('@/server/runs/cancel')
    await cancelRun(runtime.ctx, { runId })
    expect(await runtime.wait(runId)).toMatchObject({ outcome: 'cancelled' })
    await post({ name })
    await delivered()
    expect(await runtime.status(runId)).toMatchObject({ outcome: 'cancelled', data: {} })
  })

  test('loses no event and uses none twice, posted at any moment', async () => {
    const name = fresh()
    const count = rounds(60, 500)
    const definition = {
      payload: { n: { type: 'number' } },
      steps: [
        ask,
        wait(name, { key: '${n}', maxVisits: 2 }),
        { id: 'again', type: 'condition', when: '${wait.data.of} == 1' },
      ],
      edges: [
        { from: 'ask', to: 'wait' },
        { from: 'wait', to: 'again' },
        { from: 'again', to: 'wait', on: 'true' },
      ],
    }
    const restore = await throughTheSdk()
    const through = await Promise.all(Array.from({ length: count / 2 }, (_, n) => runtime.start(definition, { n })))
    restore()
    const runIds = await Promise.all(
      Array.from({ length: count }, async (_, n) => through[n] ?? (await runtime.start(definition, { n }))),
    )
    const runs = await Promise.all(
      runIds.map(async (runId, n) => {
        await runtime.wait(runId, ({ status }) => status === 'paused', 60_000)
        const posts = async () => {
          await sleep((n * 13) % 40)
          for (const of of [1, 2]) await post({ name, key: n, data: { of } })
        }
        await Promise.all([sleep((n * 7) % 40).then(() => answer(runId)), posts()])
        return runtime.wait(runId, undefined, 60_000)
      }),
    )
    for (const run of runs) {
      const taken = run.stepExecutionHistory.filter(({ stepId }) => stepId === 'wait')
      expect(taken.map(({ outputData }) => (outputData as EventValue).data.of)).toEqual([1, 2])
    }
  }, 120_000)
})

describe('an event', () => {
  test('reaches only waits of its own workspace', async () => {
    const name = fresh()
    const runId = await runtime.start({ steps: [wait(name)] })
    await waiting(runId)
    const { postEvent } = await import('@/server/events/post')
    await postEvent(await runtime.as('owner', 'ten_elsewhere'), { name })
    await delivered()
    expect(await runtime.status(runId)).toMatchObject({ status: 'running' })
    await post({ name })
    await runtime.wait(runId)
  })

  test('is delivered by the sweep when its delivery was lost, and a wait looks by itself when its process did not', async () => {
    const { sweepEvents } = await import('@/server/events/sweep')
    const { sweepRuns } = await import('@/server/interpreter/repair/sweep')
    const later = { db: runtime.db, log: runtime.ctx.log, now: () => new Date(Date.now() + 6 * 60_000) }
    const [lost, unlooked] = [fresh(), fresh()]
    const runIds = [await runtime.start({ steps: [wait(lost)] }), await runtime.start({ steps: [wait(unlooked)] })]
    await waiting(...runIds)
    // As if the process had died between two commits.
    const insert = (name: string, deliveredAt: Date | null) => database.sql`
      insert into events (tenant_id, id, name, data, posted_by, received_at, delivered_at)
      values ('ten_test', ${fresh()}, ${name}, '{}', 'test', now(), ${deliveredAt})`
    await insert(lost, null)
    await database.sql`
      update pauses set looked = false, created_at = now() - interval '10 seconds' where run_id = ${runIds[1] ?? ''}`
    await insert(unlooked, new Date())
    await sweepEvents(later)
    await sweepRuns({ ...later, now: () => new Date() })
    for (const runId of runIds) expect(await runtime.wait(runId)).toMatchObject({ status: 'completed' })
  })

  test('is asked to be delivered again only once in a while', async () => {
    const { sweepEvents } = await import('@/server/events/sweep')
    const later = new Date(Date.now() + 6 * 60_000)
    const sweep = () => sweepEvents({ db: runtime.db, log: runtime.ctx.log, now: () => later })
    const name = fresh()
    await runtime.as('owner', 'ten_nobody')
    await database.sql`
      insert into events (tenant_id, id, name, data, posted_by) values ('ten_nobody', ${name}, ${name}, '{}', 'test')`
    expect([(await sweep()).again, (await sweep()).again]).toEqual([1, 0])
    await delivered()
  })

  test('reaches everybody else when one wait cannot look at it, and that one once it can', async () => {
    const { sweepEvents } = await import('@/server/events/sweep')
    const name = fresh()
    const [broken, sound] = [await runtime.start({ steps: [wait(name)] }), await runtime.start({ steps: [wait(name)] })]
    await waiting(broken, sound)
    const rules = (when: number | null) => database.sql`
      update pauses set event_rules = ${JSON.stringify({ since: 'run', when, values: {} })}::text::jsonb where run_id = ${broken}`
    await rules(5)
    const id = await post({ name })
    expect(gotBy(await runtime.wait(sound))).toMatchObject({ id })
    await sleep(200)
    expect(await database.sql`select id from events where id = ${id} and delivered_at is null`).toHaveLength(1)
    await rules(null)
    const later = new Date(Date.now() + 6 * 60_000)
    await sweepEvents({ db: runtime.db, log: runtime.ctx.log, now: () => later })
    expect(gotBy(await runtime.wait(broken))).toMatchObject({ id })
    await delivered()
  })

  test('is deleted after seven days', async () => {
    const { sweepEvents } = await import('@/server/events/sweep')
    const id = await post({ name: fresh() })
    const at = (days: number) => ({
      ...{ db: runtime.db, log: runtime.ctx.log },
      now: () => new Date(Date.now() + days * 86_400_000),
    })
    await delivered()
    await sweepEvents(at(6.9))
    expect(await database.sql`select id from events where id = ${id}`).toHaveLength(1)
    await sweepEvents(at(7.1))
    expect(await database.sql`select id from events where id = ${id}`).toHaveLength(0)
  })
})
