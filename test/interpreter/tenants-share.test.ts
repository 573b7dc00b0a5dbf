import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ServiceContext } from '@/server/context'
import { startRun } from '@/server/runs/start'
import { getRunStatus } from '@/server/runs/status'
import { createWorkflow } from '@/server/workflows/lifecycle'
import { until } from '../engine/support'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { rounds } from '../support/rounds'
import { startTestRuntime, type TestRuntime } from '../support/runtime'
import { type HeldEffects, holdEffects } from './held'

const SLOW = rounds(140, 1_000)

let database: FreshDatabase
let runtime: TestRuntime
let held: HeldEffects
beforeAll(async () => {
  database = await freshDatabase()
  held = await holdEffects()
  runtime = await startTestRuntime(database.url)
})
afterAll(async () => {
  held?.release()
  await runtime?.stop()
  await held?.stop()
  await database?.close()
})

const working = (url?: string) => ({
  name: 'W',
  steps: [
    { id: 'work', type: 'test-effect', ...(url === undefined ? {} : { url }) },
    { id: 'end', type: 'end-flow' },
  ],
})
const ended = async (ctx: ServiceContext, runId: string) => {
  const run = await getRunStatus(ctx, { runId })
  return run.endTime !== undefined && run
}

test('while one tenant has more slow steps than there are places, runs of others and the sweeps continue', async () => {
  const slow = await createWorkflow(runtime.ctx, working(held.url))
  const starts = Array.from({ length: SLOW }, () => startRun(runtime.ctx, { workflowId: slow.id, body: {} }))
  const runIds = (await Promise.all(starts)).map(({ runId }) => runId)
  await until(() => held.asked() >= 64)

  const other = await runtime.as('owner', 'ten_other')
  const hello = await createWorkflow(other, working())
  const { runId } = await startRun(other, { workflowId: hello.id, body: {} })
  expect(await until(() => ended(other, runId))).toMatchObject({ status: 'completed' })
  await database.sql`update engine.jobs set due_at = now() where id like 'cron:millrace-sweep:%'`
  await database.sql`select pg_notify('engine', '')`
  await until(async () => {
    const [swept] =
      await database.sql`select 1 from engine.runs where function_id = 'millrace-sweep' and status = 'completed'`
    return swept
  })

  // None of the slow steps has ended meanwhile, and more than a hundred of those runs still wait for a slot.
  expect(held.asked()).toBe(64)
  held.release()
  for (const id of runIds) expect(await until(() => ended(runtime.ctx, id))).toMatchObject({ status: 'completed' })
}, 180_000)
