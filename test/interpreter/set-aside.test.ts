import { afterAll, beforeAll, expect, test } from 'vitest'
import { failWalk } from '@/server/interpreter/stop/abandon'
import { startRun } from '@/server/runs/start'
import { getRunStatus } from '@/server/runs/status'
import { createWorkflow } from '@/server/workflows/lifecycle'
import { until } from '../engine/support'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { startTestRuntime, type TestRuntime } from '../support/runtime'
import { newTenant } from '../support/tenant'
import { type HeldEffects, holdEffects } from './held'

let database: FreshDatabase
let held: HeldEffects
let runtime: TestRuntime | undefined
beforeAll(async () => {
  database = await freshDatabase()
  held = await holdEffects()
  Object.assign(process.env, { DATABASE_URL: database.url, MILLRACE_TEST_STEPS: '1', LOG_LEVEL: 'fatal' })
})
afterAll(async () => {
  held?.release()
  await runtime?.stop()
  await held?.stop()
  await database?.close()
})

test('a run whose walk was abandoned before it was claimed fails, unless another walk has replaced it', async () => {
  const ctx = await newTenant(database)
  const { id } = await createWorkflow(ctx, { name: 'W', steps: [{ id: 'a', type: 'test-effect' }] })
  const { runId } = await startRun(ctx, { workflowId: id, body: {} })
  const ref = { tenantId: ctx.tenantId, runId, branch: 'main', epoch: 1, segment: 1, engineRunId: 'engine_1' }
  await failWalk(ctx, { ...ref, epoch: 2 }, new Error('of another walk'))
  expect(await getRunStatus(ctx, { runId })).toMatchObject({ status: 'running' })
  await failWalk(ctx, ref, new Error('private'))
  const run = await getRunStatus(ctx, { runId })
  expect(run).toMatchObject({ status: 'failed', error: { code: 'ENGINE_GAVE_UP' } })
  expect(JSON.stringify(run)).not.toContain('private')
})

test('a run whose process died five times fails at its step, and says why', async () => {
  runtime = await startTestRuntime(database.url)
  const runId = await runtime.start({ steps: [{ id: 'crash', type: 'test-effect', url: held.url }] })
  await until(() => held.asked() === 1)
  await database.sql`
    update engine.jobs set owner = 'gone', deliveries = 4, due_at = now() - interval '1 second' where kind = 'run'`
  await database.sql`select pg_notify('engine', '')`
  const run = await runtime.wait(runId)
  const message = 'The run was stopped because the process running it kept crashing at this step.'
  expect(run).toMatchObject({
    status: 'failed',
    outcome: 'failed',
    error: { code: 'WORKER_LOST', message, stepId: 'crash' },
  })
  expect(run.stepExecutionHistory).toMatchObject([{ stepId: 'crash', status: 'failed', errorCode: 'WORKER_LOST' }])
  expect(held.asked()).toBe(1)
})
