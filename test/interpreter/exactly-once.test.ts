import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { resumeRun } from '@/server/runs/resume'
import { startRun } from '@/server/runs/start'
import { createWorkflow } from '@/server/workflows/lifecycle'
import { until } from '../engine/support'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { type EffectServer, startEffects } from '../support/effects'
import { checkEffects } from '../support/invariants/effects'
import { rounds } from '../support/rounds'
import { startTestRuntime, type TestRuntime } from '../support/runtime'

let database: FreshDatabase
let effects: EffectServer
let runtime: TestRuntime
beforeAll(async () => {
  database = await freshDatabase()
  effects = await startEffects(({ body }) => ({ body: { id: body.id } }))
  runtime = await startTestRuntime(database.url)
})
afterAll(async () => {
  await runtime?.stop()
  await effects?.stop()
  await database?.close()
})

const RUNS = rounds(40, 1_000)

/** Does the work once per run, a few at a time. */
async function inLanes(work: (n: number) => Promise<void>): Promise<void> {
  let next = 0
  const lane = async () => {
    for (let n = next++; n < RUNS; n = next++) await work(n)
  }
  await Promise.all(Array.from({ length: 8 }, lane))
}

/** Waits for all runs together: querying each would cost more than the runs do. */
async function all(status: string): Promise<void> {
  await until(async () => {
    const [found] = await database.sql<{ runs: number }[]>`
      select count(*)::int as runs from runs where status = ${status}`
    await sleep(50)
    return found?.runs === RUNS
  }, 600_000)
}

test(`I14, I15: without a crash, each effect of ${RUNS} runs happens exactly once, at its first attempt`, async () => {
  const effect = (id: string) => ({ id, type: 'test-effect', url: effects.url, body: { id }, saveAs: id })
  const ask = { id: 'ask', type: 'collect-inputs', output: { n: { type: 'number' } } }
  const steps = [effect('a'), effect('b'), ask, effect('c'), effect('d'), { id: 'end', type: 'end-flow' }]
  const edges = steps.slice(1).map(({ id }, index) => ({ from: steps[index]?.id, to: id }))
  const workflow = await createWorkflow(runtime.ctx, { name: 'Once', steps, edges })
  const runIds: string[] = []
  await inLanes(async () => {
    runIds.push((await startRun(runtime.ctx, { workflowId: workflow.id, body: {} })).runId)
  })
  await all('paused')
  await inLanes(async (n) => {
    const body = { type: 'collect_inputs', data: { n } }
    await resumeRun(runtime.ctx, { runId: runIds[n] ?? '', body })
  })
  await all('completed')
  expect(new Set(effects.seen.map(({ key }) => key)).size).toBe(RUNS * 4)
  expect(effects.seen).toHaveLength(RUNS * 4)
  expect(await checkEffects(database.sql, effects.seen)).toEqual([])
  const [records] = await database.sql`
    select count(*)::int as all, count(*) filter (where attempt = 1 and status = 'completed')::int as first from step_records`
  expect(records).toEqual({ all: RUNS * steps.length, first: RUNS * steps.length })
  // Each event was taken once too: nothing is left to do.
  await until(async () => {
    const [left] = await database.sql<{ rows: number }[]>`
      select (select count(*) from outbox) + (select count(*) from engine.jobs where kind <> 'cron')
        + (select count(*) from engine.runs where status = 'running') as rows`
    return Number(left?.rows) === 0
  })
}, 900_000)
