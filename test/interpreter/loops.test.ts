import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { type EffectServer, startEffects } from '../support/effects'
import { rounds } from '../support/rounds'
import { startTestRuntime, type TestRuntime } from '../support/runtime'
import { throughTheSdk } from './gap'

let database: FreshDatabase
let effects: EffectServer
let runtime: TestRuntime
beforeAll(async () => {
  database = await freshDatabase()
  effects = await startEffects((effect) => ({ body: effect.body as object }))
  runtime = await startTestRuntime(database.url)
})
afterAll(async () => {
  await runtime.stop()
  await effects.stop()
  await database.close()
})

const [FEW, MANY] = [rounds(400, 20_000), rounds(1_500, 100_000)]

const count = { id: 'count', type: 'set-data', compute: { n: '${n} + 1' } }
const more = (below: number, maxVisits = 1_000_000) => ({
  ...{ id: 'more', type: 'condition', when: `\${n} < ${below}`, maxVisits },
})
const counting = (below: number, maxVisits?: number) => ({
  payload: { n: { type: 'number', default: 0 } },
  steps: [count, more(below, maxVisits)],
  edges: [
    { from: 'count', to: 'more' },
    { from: 'more', to: 'count', on: 'true' },
  ],
})
const calling = (times: number) => ({
  payload: { n: { type: 'number', default: 0 } },
  steps: [{ id: 'call', type: 'test-effect', url: effects.url, body: { at: '${n}' } }, count, more(times)],
  edges: [
    { from: 'call', to: 'count' },
    { from: 'count', to: 'more' },
    { from: 'more', to: 'call', on: 'true' },
  ],
})
async function visits(runId: string): Promise<Record<string, number>> {
  const rows = await database.sql<{ step: string; visits: number }[]>`
    select step_id as step, count(*)::int as visits from step_records where run_id = ${runId} group by 1`
  return Object.fromEntries(rows.map(({ step, visits }) => [step, visits]))
}

const INHERITED = [
  ...Object.getOwnPropertyNames(Object.prototype).filter((name) => !['constructor', '__proto__'].includes(name)),
  'constructor',
]

test('a step may have a name that every object has', async () => {
  const steps = INHERITED.map((id) => ({ id, type: 'set-data', values: { [`f_${id}`]: 1 } }))
  const all = [...steps, { id: 'again', type: 'condition', when: '${f_toString} == 2', maxVisits: 3 }]
  const edges = all.slice(1).map(({ id }, at) => ({ from: all[at]?.id, to: id }))
  const runId = await runtime.start({ steps: all, edges, initialStep: INHERITED[0] })
  expect(await runtime.wait(runId)).toMatchObject({ status: 'completed' })
  expect(await visits(runId)).toEqual(Object.fromEntries(all.map(({ id }) => [id, 1])))
})

test('a loop visits its steps until its condition says so, on both drivers', async () => {
  for (const restore of [() => {}, await throughTheSdk()]) {
    const runId = await runtime.start(calling(7))
    const run = await runtime.wait(runId)
    expect(run).toMatchObject({ status: 'completed', data: { n: 7 } })
    expect(await visits(runId)).toEqual({ call: 7, count: 7, more: 7 })
    const keys = effects.seen.filter(({ key }) => key.startsWith(`${runId}:`)).map(({ key }) => key)
    expect(keys).toEqual(Array.from({ length: 7 }, (_, i) => `${runId}:main:call:${i + 1}`))
    restore()
  }
})

test('a loop that only computes is written every hundred steps, and can be cancelled between', async () => {
  const { cancelRun } = await import('@/server/runs/cancel')
  const done = await runtime.start(counting(FEW))
  const run = await runtime.wait(done)
  expect(run).toMatchObject({ status: 'completed', data: { n: FEW } })
  const [{ commits } = { commits: 0 }] = await database.sql<{ commits: number }[]>`
    select count(distinct xmin::text)::int as commits from step_records where run_id = ${done}`
  expect(commits).toBeGreaterThanOrEqual(FEW / 50)

  const endless = await runtime.start(counting(1_000_000))
  await runtime.wait(endless, ({ data }) => Number((data as { n?: number }).n) > 200)
  await cancelRun(runtime.ctx, { runId: endless })
  expect(await runtime.wait(endless)).toMatchObject({ status: 'failed', outcome: 'cancelled' })
})

test('large values are written before they fill the memory', async () => {
  const copies = Array.from({ length: 12 }, (_, i) => ({
    ...{ id: `copy${i}`, type: 'set-data', compute: { copy: '${big}' } },
  }))
  const runId = await runtime.start(
    {
      payload: { big: { type: 'string' } },
      steps: copies,
      edges: copies.slice(1).map(({ id }, i) => ({ from: `copy${i}`, to: id })),
    },
    { big: 'x'.repeat(900_000) },
  )
  expect(await runtime.wait(runId)).toMatchObject({ status: 'completed' })
  const [{ commits } = { commits: 0 }] = await database.sql<{ commits: number }[]>`
    select count(distinct xmin::text)::int as commits from step_records where run_id = ${runId}`
  expect(commits).toBeGreaterThan(1)
})

test('beyond its bound a loop fails, or takes the error exit', async () => {
  const over = await runtime.wait(await runtime.start(counting(50, 20)))
  expect(over).toMatchObject({ status: 'failed', error: { code: 'LOOP_LIMIT', stepId: 'more' }, data: { n: 21 } })
  expect(over.stepExecutionHistory.at(-1)).toMatchObject({ stepId: 'more', visit: 21, status: 'failed' })

  const { steps, edges, payload } = counting(50, 20)
  const giveUp = { id: 'stop', type: 'set-data', values: { why: '${error.code}' } }
  const caught = { payload, steps: [...steps, giveUp], edges: [...edges, { from: 'more', to: 'stop', on: 'error' }] }
  expect(await runtime.wait(await runtime.start(caught))).toMatchObject({
    status: 'completed',
    data: { n: 21, why: 'LOOP_LIMIT' },
  })
})

test('an exit that leads back into the loop still ends it', async () => {
  const { steps, edges, payload } = counting(50, 3)
  const again = { payload, steps, edges: [...edges, { from: 'more', to: 'count', on: 'error' }] }
  expect(await runtime.wait(await runtime.start(again))).toMatchObject({
    status: 'failed',
    error: { code: 'LOOP_LIMIT' },
  })
})

test('a failed run of a loop is retried from the visit that failed', async () => {
  const { retryRun } = await import('@/server/runs/retry')
  let broken = true
  const flaky = await startEffects((effect) => {
    const { at } = effect.body as { at: number }
    return at === 3 && broken ? { status: 422 } : { body: effect.body as object }
  })
  const definition = calling(5)
  Object.assign(definition.steps[0] ?? {}, { url: flaky.url })
  const runId = await runtime.start(definition)
  expect(await runtime.wait(runId)).toMatchObject({ status: 'failed', data: { n: 3 } })
  broken = false
  const { runId: retried } = await retryRun(runtime.ctx, { runId })
  expect(await runtime.wait(retried)).toMatchObject({ status: 'completed', data: { n: 5 } })
  expect(await visits(retried)).toEqual({ call: 5, count: 5, more: 5 })
  expect(flaky.seen.map(({ body }) => (body as { at: number }).at)).toEqual([0, 1, 2, 3, 3, 4])
  await flaky.stop()
})

test('a loop continues where it was when its walk is taken over', async () => {
  const runId = await runtime.start(counting(MANY))
  // In any state, each takeover continues from the stored rows.
  for (let times = 0; times < 3; times++) {
    await sleep(60)
    const [moved] = await database.sql<{ epoch: number; segment: number; tenant: string }[]>`
      update walks set epoch = epoch + 1, status = 'requested', engine_run_id = null
      where run_id = ${runId} and status <> 'ended' returning epoch, segment, tenant_id as tenant`
    if (!moved) break
    const { emit } = await import('@/server/outbox')
    const { withTransaction } = await import('@/server/context')
    const { tenant: tenantId, epoch, segment } = moved
    await withTransaction(runtime.ctx, (tx) =>
      emit(tx, 'workflow/walk.requested', { tenantId, runId, branch: 'main', epoch, segment }),
    )
  }
  const run = await runtime.wait(runId)
  expect(run).toMatchObject({ status: 'completed', data: { n: MANY } })
  expect(await visits(runId)).toEqual({ count: MANY, more: MANY })
})
