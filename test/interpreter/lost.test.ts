import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { outbox } from '@/db/schema/outbox'
import { walks } from '@/db/schema/runs'
import type { ServiceContext } from '@/server/context'
import { NextStep } from '@/server/interpreter/plan/next-step'
import { sweepRuns } from '@/server/interpreter/repair/sweep'
import { openForEngine } from '@/server/interpreter/wait/pause'
import { claimWalk } from '@/server/interpreter/walk/claim'
import { visitStep } from '@/server/interpreter/walk/visit'
import { startRun } from '@/server/runs/start'
import { createWorkflow } from '@/server/workflows/lifecycle'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { newTenant } from '../support/tenant'

let database: FreshDatabase
let ctx: ServiceContext
let workflowId: string

beforeAll(async () => {
  database = await freshDatabase()
  const keys = { INNGEST_EVENT_KEY: 'event', INNGEST_SIGNING_KEY: `signkey-test-${'ab'.repeat(32)}` }
  Object.assign(process.env, { DATABASE_URL: database.url, LOG_LEVEL: 'fatal', MILLRACE_TEST_STEPS: '1', ...keys })
})
afterAll(() => database?.close())

beforeEach(async () => {
  await database.sql`truncate runs, outbox cascade`
  ctx = await newTenant(database)
  const steps = [
    { id: 'a', type: 'test-effect', body: {} },
    { id: 'b', type: 'test-effect', body: {} },
    { id: 'ask', type: 'collect-inputs', output: { answer: { type: 'string' } } },
    { id: 'end', type: 'end-flow' },
  ]
  const edges = [
    { from: 'a', to: 'b' },
    { from: 'b', to: 'ask' },
    { from: 'ask', to: 'end' },
  ]
  workflowId = (await createWorkflow(ctx, { name: 'W', initialStep: 'a', steps, edges })).id
})

const start = async () => (await startRun(ctx, { workflowId, body: {} })).runId
/** Moves everything back in time, as if this many seconds had passed. */
async function pass(seconds: number) {
  const by = `${seconds} seconds`
  await database.sql`update runs set start_time = start_time - ${by}::interval, updated_at = updated_at - ${by}::interval,
    end_time = end_time - ${by}::interval`
  await database.sql`update walks set updated_at = updated_at - ${by}::interval`
  await database.sql`update step_records set start_time = start_time - ${by}::interval, end_time = end_time - ${by}::interval`
}
const sweep = () => sweepRuns({ db: database.db, log: ctx.log, now: () => new Date() })
const walk = async (runId: string) => (await database.db.select().from(walks).where(eq(walks.runId, runId)))[0]
const requested = async (runId: string) =>
  (await database.db.select().from(outbox)).filter(
    ({ name, data }) => name === 'workflow/walk.requested' && (data as { runId: string }).runId === runId,
  ).length
const refOf = (runId: string, epoch = 1) => ({ tenantId: ctx.tenantId, runId, branch: 'main', epoch, segment: 1 })
/** The engine calls a run for the first time. */
const call = (runId: string, epoch = 1) =>
  claimWalk(ctx, refOf(runId, epoch), `engine_${runId}_${epoch}`, new NextStep(false))
/** The engine calls its next step. */
const visit = (runId: string, stepId: string, epoch = 1) =>
  visitStep(
    ctx,
    { ...refOf(runId, epoch), engineRunId: `engine_${runId}_${epoch}` },
    { stepId, visit: 1 },
    new NextStep(false),
  )

test('a run that the engine never called is requested again within two minutes, once', async () => {
  const runId = await start()
  await pass(30)
  expect(await sweep()).toMatchObject({ restarted: 0 })
  await pass(30)
  expect(await sweep()).toMatchObject({ restarted: 1 })
  expect(await walk(runId)).toMatchObject({ epoch: 2, status: 'requested', restarts: 1 })
  expect(await requested(runId)).toBe(2)
  await pass(120)
  expect(await sweep()).toMatchObject({ restarted: 0 })
})

test('so is one that the engine left between two steps, and again if that happens once more', async () => {
  const runId = await start()
  await call(runId)
  await visit(runId, 'a')
  await pass(60)
  expect(await sweep()).toMatchObject({ restarted: 1 })
  expect(await walk(runId)).toMatchObject({ epoch: 2, status: 'requested', restarts: 1 })
  await call(runId, 2)
  await pass(60)
  // It has been called since, but has recorded nothing.
  expect(await sweep()).toMatchObject({ restarted: 0 })
  await visit(runId, 'b', 2)
  await pass(60)
  expect(await sweep()).toMatchObject({ restarted: 1 })
  expect(await walk(runId)).toMatchObject({ epoch: 3, status: 'requested' })
})

test('a step that may be running, or whose retry is not due, is left alone', async () => {
  const runId = await start()
  await call(runId)
  await database.sql`update step_records set attempt = 1 where run_id = ${runId}`
  await pass(200)
  expect(await sweep()).toMatchObject({ restarted: 0 })
  const tried = { attempt: 1, startTime: new Date(), endTime: new Date(Date.now() - 100_000), retryInMs: 90_000 }
  await database.sql`update step_records set attempts = ${database.sql.json([tried] as never)} where run_id = ${runId}`
  expect(await sweep()).toMatchObject({ restarted: 0 })
  const long = { ...tried, endTime: new Date(Date.now() - 150_000) }
  await database.sql`update step_records set attempts = ${database.sql.json([long] as never)} where run_id = ${runId}`
  expect(await sweep()).toMatchObject({ restarted: 1 })
})

test('a run that waits for a person is left alone, however long', async () => {
  const runId = await start()
  await call(runId)
  await visit(runId, 'a')
  const receipt = await visit(runId, 'b')
  expect(receipt).toMatchObject({ wait: {} })
  await openForEngine(ctx, { ...refOf(runId), engineRunId: `engine_${runId}_1` }, 'main/ask#1')
  await pass(3_600)
  expect(await sweep()).toMatchObject({ restarted: 0 })
  expect(await walk(runId)).toMatchObject({ epoch: 1 })
})

test('a queue that moves keeps its order: nothing is requested again that no later run has overtaken', async () => {
  const waiting = await start()
  await pass(60)
  const busy = await start()
  await call(busy)
  await database.sql`update runs set start_time = start_time - interval '2 minutes' where id = ${busy}`
  // The engine has just called the tenant, for a run that started earlier.
  expect(await sweep()).toMatchObject({ restarted: 0 })
  expect(await requested(waiting)).toBe(1)
  const later = await start()
  await call(later)
  expect(await sweep()).toMatchObject({ restarted: 1 })
  expect(await requested(waiting)).toBe(2)
})
