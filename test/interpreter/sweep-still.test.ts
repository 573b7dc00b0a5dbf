import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { stepRecords, walks } from '@/db/schema/runs'
import type { ServiceContext } from '@/server/context'
import { NextStep } from '@/server/interpreter/plan/next-step'
import { sweepRuns } from '@/server/interpreter/repair/sweep'
import { claimWalk } from '@/server/interpreter/walk/claim'
import type { WalkRef } from '@/server/run-store/names'
import { startRun } from '@/server/runs/start'
import { getRunStatus } from '@/server/runs/status'
import { createWorkflow } from '@/server/workflows/lifecycle'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { newTenant } from '../support/tenant'

const MINUTE = 60_000

let database: FreshDatabase
let ctx: ServiceContext
let ref: WalkRef

beforeAll(async () => {
  database = await freshDatabase()
  Object.assign(process.env, { DATABASE_URL: database.url, MILLRACE_TEST_STEPS: '1', LOG_LEVEL: 'fatal' })
})

afterAll(() => database?.close())

// Without an engine, a claimed step stays as a dead process leaves it.
beforeEach(async () => {
  await database.sql`truncate runs cascade`
  ctx = await newTenant(database)
  const workflow = await createWorkflow(ctx, { name: 'S', steps: [{ id: 'a', type: 'test-effect', body: {} }] })
  const { runId } = await startRun(ctx, { workflowId: workflow.id, body: {} })
  ref = { tenantId: ctx.tenantId, runId, branch: 'main', epoch: 1, segment: 1 }
  await claimWalk(ctx, ref, 'engine_1', new NextStep(true))
})

const sweepAfter = (ms: number) => sweepRuns({ db: database.db, log: ctx.log, now: () => new Date(Date.now() + ms) })

describe('a stalled walk', () => {
  it('is restarted with a higher epoch, once its step can no longer be running', async () => {
    expect(await sweepAfter(14 * MINUTE)).toMatchObject({ restarted: 0 })
    expect(await sweepAfter(16 * MINUTE)).toMatchObject({ restarted: 1 })
    const [walk] = await database.db.select().from(walks).where(eq(walks.runId, ref.runId))
    expect(walk).toMatchObject({ epoch: 2, status: 'requested', restarts: 1 })
  })

  it('is left alone while it waits in the queue of the engine, however long', async () => {
    await database.sql`update walks set status = 'requested', engine_run_id = null where run_id = ${ref.runId}`
    await database.sql`update step_records set end_time = now(), status = 'completed' where run_id = ${ref.runId}`
    const event = JSON.stringify({ name: 'workflow/walk.requested', data: ref })
    const other = JSON.stringify({ name: 'something/else', data: null })
    await database.sql`
      insert into engine.jobs (id, run_id, function_id, kind, due_at, event)
      values ('job_1', 'job_1', 'f', 'run', now(), ${event}), ('job_2', 'job_2', 'f', 'run', now(), ${other})`
    expect(await sweepAfter(60 * MINUTE)).toMatchObject({ restarted: 0 })
    await database.sql`update engine.jobs set event = null where id = 'job_1'`
    await database.sql`
      insert into engine.runs (id, function_id, event, created_at) values ('job_1', 'f', ${event}, now())`
    expect(await sweepAfter(60 * MINUTE)).toMatchObject({ restarted: 0 })
    await database.sql`delete from engine.jobs`
    expect(await sweepAfter(60 * MINUTE)).toMatchObject({ restarted: 1 })
  })

  it('is left alone while a later attempt may be running or is due', async () => {
    const endTime = new Date(Date.now() + 12 * MINUTE).toISOString()
    const attempts = [{ attempt: 1, startTime: new Date().toISOString(), endTime, retryInMs: 10 * MINUTE }]
    await database.db.update(stepRecords).set({ attempts, attempt: 2 }).where(eq(stepRecords.runId, ref.runId))
    expect(await sweepAfter(30 * MINUTE)).toMatchObject({ restarted: 0 })
    expect(await sweepAfter(38 * MINUTE)).toMatchObject({ restarted: 1 })
  })

  it('fails its run when restarting does not help', async () => {
    for (let round = 1; round <= 5; round++)
      expect(await sweepAfter(round * 20 * MINUTE), `round ${round}`).toMatchObject({ restarted: 1 })
    expect(await sweepAfter(120 * MINUTE)).toMatchObject({ restarted: 0 })
    const run = await getRunStatus(ctx, { runId: ref.runId })
    expect(run).toMatchObject({ status: 'failed', outcome: 'failed', error: { code: 'ENGINE_GAVE_UP', stepId: 'a' } })
    expect(run.stepExecutionHistory).toMatchObject([{ stepId: 'a', status: 'failed', errorCode: 'ENGINE_GAVE_UP' }])
  })
})
