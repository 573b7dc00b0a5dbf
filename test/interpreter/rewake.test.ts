import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { outbox } from '@/db/schema/outbox'
import { walks } from '@/db/schema/runs'
import type { ServiceContext } from '@/server/context'
import { NextStep } from '@/server/interpreter/plan/next-step'
import { sweepRuns } from '@/server/interpreter/repair/sweep'
import { failWalk } from '@/server/interpreter/stop/abandon'
import { openForEngine, takeAnswer } from '@/server/interpreter/wait/pause'
import { claimWalk } from '@/server/interpreter/walk/claim'
import { resumeRun } from '@/server/runs/resume'
import { rewakeRun } from '@/server/runs/rewake'
import { startRun } from '@/server/runs/start'
import { getRunStatus } from '@/server/runs/status'
import { createWorkflow } from '@/server/workflows/lifecycle'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { newTenant } from '../support/tenant'

const DAY_MS = 86_400_000

let database: FreshDatabase
let ctx: ServiceContext
let runId: string

beforeAll(async () => {
  database = await freshDatabase()
  const keys = { INNGEST_EVENT_KEY: 'event', INNGEST_SIGNING_KEY: `signkey-test-${'ab'.repeat(32)}` }
  Object.assign(process.env, { DATABASE_URL: database.url, LOG_LEVEL: 'fatal', ...keys })
})
afterAll(() => database?.close())

// A run at its pause, whose engine run has vanished from the server.
beforeEach(async () => {
  await database.sql`truncate runs, outbox cascade`
  ctx = await newTenant(database)
  const steps = [
    { id: 'ask', type: 'collect-inputs', output: { answer: { type: 'string' } }, next: 'end' },
    { id: 'end', type: 'end-flow' },
  ]
  const { id } = await createWorkflow(ctx, { name: 'W', initialStep: 'ask', steps })
  runId = (await startRun(ctx, { workflowId: id, body: {} })).runId
  const ref = { tenantId: ctx.tenantId, runId, branch: 'main', epoch: 1, segment: 1 }
  const claim = { ...ref, engineRunId: 'engine_1' }
  const receipt = await claimWalk(ctx, ref, 'engine_1', new NextStep(false))
  if ('wait' in receipt) await openForEngine(ctx, claim, receipt.wait.pauseId)
})

const answer = () => resumeRun(ctx, { runId, body: { type: 'collect_inputs', data: { answer: 'yes' } } })
const sweepAfter = (seconds: number) =>
  sweepRuns({ db: database.db, log: ctx.log, now: () => new Date(Date.now() + seconds * 1_000) })
const walk = async () => (await database.db.select().from(walks).where(eq(walks.runId, runId)))[0]
const sent = async () => (await database.db.select().from(outbox)).map(({ name, data }) => ({ name, ...data }))

describe('an answer that nobody takes on Inngest', () => {
  test('is nudged, and gets a new epoch within two minutes, once', async () => {
    await answer()
    expect(await sweepAfter(30)).toMatchObject({ nudged: 1, restarted: 0 })
    expect(await sweepAfter(90)).toMatchObject({ restarted: 1 })
    expect(await walk()).toMatchObject({ epoch: 2, status: 'requested', engineRunId: null })
    expect((await sent()).at(-1)).toMatchObject({ name: 'workflow/walk.requested', runId, epoch: 2 })
    expect(await sweepAfter(130)).toMatchObject({ restarted: 0 })
    // From then on it is like any other run without calls.
    expect(await sweepAfter(150)).toMatchObject({ restarted: 1 })
    expect(await sweepAfter(250)).toMatchObject({ restarted: 0 })
  })

  test('of a pause whose time is up counts from that time: its run continues with the sweep that finds it', async () => {
    const setDue = (seconds: number) =>
      database.sql`update pauses set due_at = now() + ${`${seconds} seconds`}::interval where run_id = ${runId}`
    await setDue(10)
    expect(await sweepAfter(30)).toMatchObject({ restarted: 0 })
    expect(await walk()).toMatchObject({ epoch: 1 })
    await database.sql`update pauses set answer = null, answered_at = null where run_id = ${runId}`
    await setDue(10)
    expect(await sweepAfter(70)).toMatchObject({ restarted: 1 })
    expect(await walk()).toMatchObject({ epoch: 2, status: 'requested' })
  })

  test('leaves a pause that has no answer alone', async () => {
    expect(await sweepAfter(300)).toMatchObject({ nudged: 0, restarted: 0 })
    expect(await walk()).toMatchObject({ epoch: 1 })
  })
})

describe('an engine run that fails at a pause', () => {
  const given = new Error('too old')
  const lost = Object.assign(new Error('killed'), { name: 'WorkerLost' })
  const claim = (epoch = 1) => ({
    ...{ tenantId: ctx.tenantId, runId, branch: 'main', epoch, segment: 1 },
    engineRunId: `engine_${epoch}`,
  })
  const run = () => getRunStatus(ctx, { runId })

  test.each([['gave it up', given] as const, ['lost its process', lost] as const])(
    'because the engine %s leaves a run that has no answer, whose answer requests it',
    async (_why, error) => {
      await failWalk(ctx, claim(), error)
      expect(await run()).toMatchObject({ status: 'paused' })
      expect(await walk()).toMatchObject({ status: 'resting', engineRunId: null })
      // Notified again, as events may arrive twice.
      await failWalk(ctx, claim(), error)
      await answer()
      expect(await walk()).toMatchObject({ status: 'requested', epoch: 1, segment: 2 })
    },
  )

  test('after the answer is replaced by another one, once', async () => {
    await answer()
    await failWalk(ctx, claim(), given)
    expect(await run()).toMatchObject({ status: 'running' })
    expect(await walk()).toMatchObject({ status: 'requested', epoch: 2, restarts: 1 })
    await claimWalk(ctx, claim(2), 'engine_2', new NextStep(false))
    await failWalk(ctx, claim(2), given)
    expect(await run()).toMatchObject({ status: 'failed', error: { code: 'ENGINE_GAVE_UP' } })
  })

  test('whose continuation killed each process ends its run', async () => {
    await answer()
    await failWalk(ctx, claim(), lost)
    expect(await run()).toMatchObject({ status: 'failed', error: { code: 'WORKER_LOST' } })
  })

  test('ends a run that is being cancelled as cancelled', async () => {
    const cancellation = database.sql.json({ kind: 'cancel', by: null, reason: null } as never)
    await database.sql`update runs set cancel_requested_at = now(), cancellation = ${cancellation} where id = ${runId}`
    await failWalk(ctx, claim(), given)
    expect(await run()).toMatchObject({ outcome: 'cancelled' })
  })
})

test('an engine run waits for at most 365 days at once, and again until its time has come', async () => {
  await database.sql`update pauses set due_at = now() + interval '800 days' where run_id = ${runId}`
  const claim = { tenantId: ctx.tenantId, runId, branch: 'main', epoch: 1, segment: 1, engineRunId: 'engine_1' }
  const from = Date.now()
  const waits: number[] = []
  for (const day of [365, 730, 801]) {
    const at = { ...ctx, now: () => new Date(from + day * DAY_MS) }
    const receipt = await takeAnswer(at, claim, 'main:ask#1', waits.length, new NextStep(false))
    if (!('wait' in receipt) || receipt.wait.dueAt === null) break
    expect(receipt.wait.arm).toBe(waits.length + 1)
    waits.push(Math.round((Date.parse(receipt.wait.dueAt) - from) / DAY_MS))
  }
  expect(waits).toEqual([730, 800])
  expect(await getRunStatus(ctx, { runId })).toMatchObject({ outcome: 'timed_out' })
})

test('an operator can have a run continued, and one that has ended does not change', async () => {
  expect(await rewakeRun(ctx, { runId })).toMatchObject({ runId, requested: 1 })
  expect(await walk()).toMatchObject({ epoch: 2, status: 'requested' })
  await database.sql`update walks set status = 'ended' where run_id = ${runId}`
  expect(await rewakeRun(ctx, { runId })).toMatchObject({ requested: 0 })
})
