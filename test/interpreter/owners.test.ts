import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ServiceContext } from '@/server/context'
import { AttemptFailed } from '@/server/interpreter/flow/failure'
import { NextStep } from '@/server/interpreter/plan/next-step'
import { failWalk } from '@/server/interpreter/stop/abandon'
import { openForEngine, takeAnswer } from '@/server/interpreter/wait/pause'
import { claimWalk } from '@/server/interpreter/walk/claim'
import { requestSegment } from '@/server/interpreter/walk/segment'
import { visitStep } from '@/server/interpreter/walk/visit'
import type { WalkClaim } from '@/server/run-store/names'
import { resumeRun } from '@/server/runs/resume'
import { startRun } from '@/server/runs/start'
import { createWorkflow } from '@/server/workflows/lifecycle'
import { until } from '../engine/support'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { expectInvariants } from '../support/invariants/check'
import { installFinality } from '../support/invariants/finality'
import { startTestRuntime, type TestRuntime } from '../support/runtime'
import { newTenant } from '../support/tenant'
import { type HeldEffects, holdEffects } from './held'

let database: FreshDatabase
let ctx: ServiceContext
let held: HeldEffects
beforeAll(async () => {
  database = await freshDatabase({ max: 10 })
  Object.assign(process.env, { DATABASE_URL: database.url, MILLRACE_TEST_STEPS: '1', LOG_LEVEL: 'fatal' })
  ctx = await newTenant(database)
  await installFinality(database.sql)
})
beforeEach(async () => {
  held = await holdEffects()
})
afterEach(async () => {
  held.release()
  await held.stop()
})
afterAll(() => database?.close())

const a = { stepId: 'a', visit: 1 }
const work = (id: string) => ({ id, type: 'test-effect', url: held.url, saveAs: id })
const ask = { id: 'ask', type: 'collect-inputs', output: { n: { type: 'number' } } }

/** A run whose walk was claimed by `engine_1`; the test makes the calls in place of the engine. */
async function claimed(...steps: { id: string }[]): Promise<WalkClaim> {
  const edges = steps.slice(1).map(({ id }, index) => ({ from: steps[index]?.id, to: id }))
  const { id } = await createWorkflow(ctx, { name: 'Owned', steps, edges })
  const { runId } = await startRun(ctx, { workflowId: id, body: {} })
  const ref = { tenantId: ctx.tenantId, runId, branch: 'main', epoch: 1, segment: 1 }
  await claimWalk(ctx, ref, 'engine_1', new NextStep(false))
  return { ...ref, engineRunId: 'engine_1' }
}

/** Every row of a run, as text. */
async function rowsOf(runId: string): Promise<string> {
  const [row] = await database.sql<{ rows: string }[]>`
    select json_build_array(
      (select row_to_json(r) from runs r where id = ${runId}),
      (select json_agg(s order by seq) from step_records s where run_id = ${runId}),
      (select json_agg(p order by id) from pauses p where run_id = ${runId}),
      (select json_agg(w order by branch) from walks w where run_id = ${runId}),
      (select json_agg(o order by id) from outbox o where o.data->>'runId' = ${runId}))::text as rows`
  return row?.rows ?? ''
}

describe('I16: a process whose step another has taken over', () => {
  test.each([
    ['its result', 200],
    ['a failure for good', 422],
    ['a failure that would be retried', 503],
  ])('writes nothing with %s, and the owner’s result counts', async (_what, status) => {
    const claim = await claimed(work('a'), work('b'))
    const zombie = visitStep(ctx, claim, a, new NextStep(true)).catch((err: unknown) => err)
    await until(() => held.asked() === 1)
    const owner = visitStep(ctx, claim, a, new NextStep(true))
    await until(() => held.asked() === 2)
    const before = await rowsOf(claim.runId)
    held.answer(0, { by: 'zombie' }, status)
    // The engine calls again, and that call finds the owner's records.
    expect(await zombie).toBeInstanceOf(AttemptFailed)
    expect(await rowsOf(claim.runId)).toBe(before)
    held.answer(1, { by: 'owner' })
    expect(await owner).toEqual({ next: { stepId: 'b', visit: 1 } })
    expect(await visitStep(ctx, claim, a, new NextStep(true))).toEqual({ next: { stepId: 'b', visit: 1 } })
    expect(held.asked()).toBe(2)
    const records = await database.sql`
      select step_id, status, attempt, delta from step_records where run_id = ${claim.runId} order by seq`
    expect([...records]).toEqual([
      { step_id: 'a', status: 'completed', attempt: 2, delta: { a: { by: 'owner' } } },
      { step_id: 'b', status: 'running', attempt: 1, delta: null },
    ])
  })
})

describe('I16: an engine run that did not claim the segment', () => {
  const other = (claim: WalkClaim): WalkClaim => ({ ...claim, engineRunId: 'engine_2' })
  const entrances: [string, (claim: WalkClaim) => Promise<unknown>][] = [
    ['claim the walk', (claim) => claimWalk(ctx, claim, claim.engineRunId, new NextStep(false))],
    ['begin its step', (claim) => visitStep(ctx, claim, a, new NextStep(false))],
    ['hand it over', (claim) => requestSegment(ctx, claim)],
  ]
  test.each(entrances)('may not %s', async (_entrance, enter) => {
    const claim = await claimed(work('a'))
    const before = await rowsOf(claim.runId)
    expect(await enter(other(claim))).toEqual({ stop: 'superseded' })
    expect(await rowsOf(claim.runId)).toBe(before)
    expect(held.asked()).toBe(0)
  })

  test('may not end its run by failing', async () => {
    const claim = await claimed(work('a'))
    const before = await rowsOf(claim.runId)
    await failWalk(ctx, other(claim), new Error('lost'))
    expect(await rowsOf(claim.runId)).toBe(before)
    await failWalk(ctx, claim, new Error('lost'))
    expect(await rowsOf(claim.runId)).toContain('ENGINE_GAVE_UP')
  })

  test('may not open its pause or take the answer to it', async () => {
    const claim = await claimed(ask)
    await openForEngine(ctx, other(claim), 'main:ask#1')
    expect(await database.sql`select id from pauses where run_id = ${claim.runId}`).toHaveLength(0)
    await openForEngine(ctx, claim, 'main:ask#1')
    await resumeRun(ctx, { runId: claim.runId, body: { type: 'collect_inputs', data: { n: 1 } } })
    const before = await rowsOf(claim.runId)
    expect(await takeAnswer(ctx, other(claim), 'main:ask#1', 0, new NextStep(false))).toEqual({ stop: 'superseded' })
    expect(await rowsOf(claim.runId)).toBe(before)
    expect(await takeAnswer(ctx, claim, 'main:ask#1', 0, new NextStep(false))).toEqual({ stop: 'ended' })
  })

  test('leaves every invariant as it was', async () => {
    await expectInvariants(database.sql, { engine: false })
  })
})

describe('with the engine', () => {
  let runtime: TestRuntime | undefined
  afterAll(() => runtime?.stop())

  test('I16: a call that lost its lease in the middle of a step records nothing, and the call that took over does', async () => {
    // No engine run exists for the walks that the tests above carried.
    await database.sql`truncate runs, outbox cascade`
    runtime = await startTestRuntime(database.url)
    const runId = await runtime.start({ steps: [work('a')] })
    await until(() => held.asked() === 1)
    await database.sql`update engine.jobs set owner = 'gone', due_at = now() - interval '1 second' where kind = 'run'`
    await database.sql`select pg_notify('engine', '')`
    await until(() => held.asked() === 2)
    held.answer(0, { by: 'zombie' })
    // Until its write was refused, nothing may show.
    await new Promise((resolve) => setTimeout(resolve, 300))
    expect(await runtime.status(runId)).toMatchObject({ status: 'running', data: {} })
    held.answer(1, { by: 'owner' })
    const run = await runtime.wait(runId)
    expect(run).toMatchObject({ status: 'completed', data: { a: { by: 'owner' } } })
    expect(run.stepExecutionHistory).toMatchObject([{ stepId: 'a', attempt: 2 }])
  })
})
