import { setTimeout as sleep } from 'node:timers/promises'
import { and, eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { stepRecords, walks } from '@/db/schema/runs'
import { type ServiceContext, withTransaction } from '@/server/context'
import { NextStep } from '@/server/interpreter/plan/next-step'
import { holdWalk } from '@/server/interpreter/plan/state'
import { claimWalk } from '@/server/interpreter/walk/claim'
import { visitStep } from '@/server/interpreter/walk/visit'
import type { WalkClaim } from '@/server/run-store/names'
import { startRun } from '@/server/runs/start'
import { createWorkflow } from '@/server/workflows/lifecycle'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { newTenant } from '../support/tenant'

let database: FreshDatabase
let ctx: ServiceContext
let ref: WalkClaim

beforeAll(async () => {
  database = await freshDatabase({ max: 10 })
  Object.assign(process.env, { DATABASE_URL: database.url, MILLRACE_TEST_STEPS: '1', LOG_LEVEL: 'fatal' })
  ctx = await newTenant(database)
})

afterAll(() => database?.close())

// Without relay and engine, so that the test itself makes the calls.
beforeEach(async () => {
  const steps = [
    { id: 'a', type: 'test-effect', body: { done: 'a' } },
    { id: 'b', type: 'test-effect', body: { done: 'b' } },
  ]
  const workflow = await createWorkflow(ctx, { name: 'L', steps, edges: [{ from: 'a', to: 'b' }] })
  const { runId } = await startRun(ctx, { workflowId: workflow.id, body: {} })
  ref = { tenantId: ctx.tenantId, runId, branch: 'main', epoch: 1, segment: 1, engineRunId: 'engine_1' }
})

/** Lets others start waiting for the run's lock before `work` is done and committed. */
async function whileOthersWait<T>(
  others: () => Promise<T>[],
  work: (tx: ServiceContext) => Promise<void>,
): Promise<T[]> {
  const waiting: Promise<T>[] = []
  await withTransaction(ctx, async (tx) => {
    await tx.db.execute(sql`select 1 from runs where id = ${ref.runId} for update`)
    waiting.push(...others())
    await sleep(300)
    await work(tx)
  })
  return Promise.all(waiting)
}

describe('a visit that waited for the run’s lock', () => {
  it('sees the previous one’s changes to its record', async () => {
    await claimWalk(ctx, ref, 'engine_1', new NextStep(false))
    const at = { stepId: 'a', visit: 1 }
    const [seen] = await whileOthersWait(
      () => [withTransaction(ctx, async (tx) => (await holdWalk(tx, ref, at)).found)],
      async (tx) => {
        await tx.db
          .update(stepRecords)
          .set({ status: 'completed', endTime: new Date() })
          .where(and(eq(stepRecords.runId, ref.runId), eq(stepRecords.stepId, 'a')))
      },
    )
    expect(seen && 'record' in seen && seen.record?.endTime).toBeInstanceOf(Date)
  })

  it('sees that its walk was ended', async () => {
    await claimWalk(ctx, ref, 'engine_1', new NextStep(false))
    const [seen] = await whileOthersWait(
      () => [withTransaction(ctx, async (tx) => (await holdWalk(tx, ref, { stepId: 'a', visit: 1 })).found)],
      async (tx) => {
        await tx.db.update(walks).set({ status: 'ended' }).where(eq(walks.runId, ref.runId))
      },
    )
    expect(seen).toEqual({ stop: { stop: 'superseded' } })
  })

  it('is superseded when another engine run claimed the segment meanwhile', async () => {
    const receipts = await whileOthersWait(
      () => ['engine_1', 'engine_2', 'engine_3'].map((id) => claimWalk(ctx, ref, id, new NextStep(false))),
      async () => {},
    )
    expect(receipts.filter((receipt) => 'next' in receipt)).toHaveLength(1)
    expect(receipts.filter((receipt) => 'stop' in receipt && receipt.stop === 'superseded')).toHaveLength(2)
  })

  it('counts its attempt after the other one, and only one result is recorded', async () => {
    await claimWalk(ctx, ref, 'engine_1', new NextStep(false))
    const at = { stepId: 'a', visit: 1 }
    await whileOthersWait(
      // A claim that was overtaken must call again.
      () => [1, 2, 3].map(() => visitStep(ctx, ref, at, new NextStep(false)).catch((err: Error) => err.name)),
      async () => {},
    )
    const records = await ctx.db.select().from(stepRecords).where(eq(stepRecords.runId, ref.runId))
    expect(records.map((record) => [record.stepId, record.visit, record.status]).sort()).toEqual([
      ['a', 1, 'completed'],
      ['b', 1, 'running'],
    ])
  })
})
