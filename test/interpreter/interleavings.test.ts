import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type ServiceContext, withTransaction } from '@/server/context'
import { AppError } from '@/server/errors'
import { NextStep } from '@/server/interpreter/plan/next-step'
import { sweepRuns } from '@/server/interpreter/repair/sweep'
import { openForEngine, takeAnswer } from '@/server/interpreter/wait/pause'
import { claimWalk } from '@/server/interpreter/walk/claim'
import { requestSegment } from '@/server/interpreter/walk/segment'
import { visitStep } from '@/server/interpreter/walk/visit'
import { log } from '@/server/log'
import type { WalkClaim } from '@/server/run-store/names'
import { cancelRun } from '@/server/runs/cancel'
import { giveHeld } from '@/server/runs/held/give'
import { holdAnswer } from '@/server/runs/held/hold'
import { undoAnswer } from '@/server/runs/held/undo'
import { resumeRun } from '@/server/runs/resume'
import { startRun } from '@/server/runs/start'
import { getRunStatus } from '@/server/runs/status'
import { terminateRun } from '@/server/runs/terminate'
import { createWorkflow } from '@/server/workflows/lifecycle'
import { until } from '../engine/support'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { expectInvariants } from '../support/invariants/check'
import { installFinality } from '../support/invariants/finality'
import { newTenant } from '../support/tenant'
import { newVisitor } from '../trpc/support'
import { type HeldEffects, holdEffects } from './held'

/*
 * Two transactions on one run, in a given order: the first has written and not yet committed when the second comes and
 * has to wait. Both orders of each pair must lead to a legal end, and neither may miss what the other wrote.
 */

let database: FreshDatabase
let ctx: ServiceContext
let held: HeldEffects
let claim: WalkClaim
beforeAll(async () => {
  database = await freshDatabase({ max: 10 })
  Object.assign(process.env, { DATABASE_URL: database.url, MILLRACE_TEST_STEPS: '1', LOG_LEVEL: 'fatal' })
  ctx = await newTenant(database)
  await installFinality(database.sql)
  // Holds a record's transaction after its first write, as long as the lock is held.
  await database.sql.unsafe(`
    create function hold_record() returns trigger language plpgsql as $$
    begin perform pg_advisory_xact_lock_shared(7); return new; end $$;
    create trigger hold_record before update on step_records for each row
      when (old.status = 'running' and new.status <> 'running') execute function hold_record()`)
})
beforeEach(async () => {
  held = await holdEffects()
})
afterEach(async () => {
  held.release()
  await held.stop()
  await expectInvariants(database.sql, { engine: false })
})
afterAll(() => database?.close())

const handoff = () => new NextStep(false)
const a = { stepId: 'a', visit: 1 }

/** A claimed run of `first → b → end`, with `undo` to run after a cancel if `cleanup`. */
async function begin(first: { id: string }, cleanup = false): Promise<void> {
  const b = { id: 'b', type: 'test-effect', body: { b: true } }
  const undo = { id: 'undo', type: 'test-effect', body: { undone: true } }
  const steps = [first, b, { id: 'end', type: 'end-flow' }, ...(cleanup ? [undo] : [])]
  const edges = [
    { from: first.id, to: 'b' },
    { from: 'b', to: 'end' },
  ]
  const more = cleanup ? { onCancel: 'undo' } : {}
  const { id } = await createWorkflow(ctx, { name: 'Race', steps, edges, initialStep: first.id, ...more })
  const { runId } = await startRun(ctx, { workflowId: id, body: {} })
  const ref = { tenantId: ctx.tenantId, runId, branch: 'main', epoch: 1, segment: 1 }
  claim = { ...ref, engineRunId: 'engine_main_1_1' }
  await claimWalk(ctx, ref, claim.engineRunId, handoff())
}

const PAUSE = 'main:ask#1'
const atStep = (cleanup = false) =>
  begin({ id: 'a', type: 'test-effect', url: held.url, saveAs: 'a' } as never, cleanup)
async function atPause(cleanup = false): Promise<void> {
  await begin({ id: 'ask', type: 'collect-inputs', output: { n: { type: 'number' } } } as never, cleanup)
  await openForEngine(ctx, claim, PAUSE)
}

type Act = (ctx: ServiceContext) => Promise<unknown>
const cancel: Act = (c) => cancelRun(c, { runId: claim.runId })
const terminate: Act = (c) => terminateRun(c, { runId: claim.runId })
const resume: Act = (c) => resumeRun(c, { runId: claim.runId, body: { type: 'collect_inputs', data: { n: 1 } } })
const take: Act = (c) => takeAnswer(c, claim, PAUSE, 0, handoff())
const arm: Act = (c) => openForEngine(c, claim, PAUSE)
const handOver: Act = (c) => requestSegment(c, claim)
const restart: Act = (c) => sweepRuns({ db: c.db as ServiceContext['db'] as never, log: log(), now: inAnHour })
const inAnHour = () => new Date(Date.now() + 3_600_000)

/** The result of a call: its error's code, the receipt's stop, or `ok`. */
const told = (act: Promise<unknown>): Promise<string> =>
  act.then(
    (answer) => (answer && typeof answer === 'object' && 'stop' in answer ? String(answer.stop) : 'ok'),
    (err: unknown) => (err instanceof AppError ? err.code : String(err)),
  )

/** Waits until this many of the database's connections wait for a lock. */
async function waiting(count: number): Promise<void> {
  await until(async () => {
    const [row] = await database.sql<{ waiting: number }[]>`
      select count(*)::int as waiting from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`
    return row?.waiting === count
  })
}

/** `first` has done all its writes when `second` begins, and commits once `second` has to wait for it. */
async function inTurn(first: Act, second: Act): Promise<[string, string]> {
  let later = Promise.resolve('')
  const earlier = await withTransaction(ctx, async (tx) => {
    const said = await told(first(tx))
    later = told(second(ctx))
    await waiting(1)
    return said
  })
  return [earlier, await later]
}

/** As `inTurn`, with the record of the running step `a` first. */
async function recordThen(visiting: Promise<unknown>, second: Act): Promise<[string, string]> {
  let later = Promise.resolve('')
  await database.sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(7)`
    held.answer(0, {})
    await waiting(1)
    later = told(second(ctx))
    await waiting(2)
  })
  return [await told(visiting), await later]
}

/** Begins the step `a` and returns when its effect is under way. */
async function working(): Promise<Promise<unknown>[]> {
  const visiting = visitStep(ctx, claim, a, handoff())
  await until(() => held.asked() === 1)
  return [visiting]
}

/** Continues every open walk, as the engine would, until the run has ended or waits. */
async function carry(): Promise<string> {
  const { tenantId, runId } = claim
  for (let turn = 0; turn < 20; turn++) {
    const [walk] = await database.sql<{ branch: string; epoch: number; segment: number; step: string | null }[]>`
      select w.branch, w.epoch, w.segment, s.step_id as step from walks w
      left join step_records s on s.run_id = w.run_id and s.branch = w.branch and s.end_time is null
        and w.status = 'walking' and s.step_type = 'test-effect'
      where w.run_id = ${runId} and w.status <> 'ended'`
    if (!walk) break
    const { branch, epoch, segment, step } = walk
    const ref = { tenantId, runId, branch, epoch, segment, engineRunId: `engine_${branch}_${epoch}_${segment}` }
    if (step === null) {
      const receipt = await claimWalk(ctx, ref, ref.engineRunId, handoff())
      if ('wait' in receipt) await takeAnswer(ctx, ref, PAUSE, 0, handoff())
      if ((await getRunStatus(ctx, { runId })).status === 'paused') break
    } else {
      held.release()
      await visitStep(ctx, ref, { stepId: step, visit: 1 }, handoff())
    }
  }
  const run = await getRunStatus(ctx, { runId })
  const history = run.stepExecutionHistory.map(({ stepId, status }) => `${stepId} ${status}`)
  return `${run.outcome ?? run.status}: ${history.join(', ')}`
}

describe('a record and', () => {
  test.each<[string, Act, boolean, [string, string], string]>([
    ['a cancel', cancel, false, ['ok', 'ended'], 'cancelled: a completed'],
    ['a cancel with a cleanup', cancel, true, ['ok', 'ended'], 'cancelled: a completed, undo completed'],
    ['a terminate', terminate, true, ['ok', 'ended'], 'terminated: a failed'],
    [
      'a restart by the sweep',
      restart,
      false,
      ['ok', 'superseded'],
      'succeeded: a completed, b completed, end completed',
    ],
    [
      'a hand-over',
      handOver,
      false,
      ['handed-over', 'superseded'],
      'succeeded: a completed, b completed, end completed',
    ],
  ])('%s, which commits first', async (_name, act, cleanup, said, end) => {
    await atStep(cleanup)
    const [visiting] = await working()
    const record: Act = () => {
      held.answer(0, {})
      return visiting as Promise<unknown>
    }
    expect(await inTurn(act, record)).toEqual(said)
    expect(await carry()).toBe(end)
  })

  test.each<[string, Act, boolean, string]>([
    // The record has begun `b`, which nobody has claimed: it may not begin any more.
    ['a cancel', cancel, false, 'cancelled: a completed, b failed'],
    ['a cancel with a cleanup', cancel, true, 'cancelled: a completed, b failed, undo completed'],
    ['a terminate', terminate, true, 'terminated: a completed, b failed'],
  ])('%s, which comes second', async (_name, act, cleanup, end) => {
    await atStep(cleanup)
    const [visiting] = await working()
    expect(await recordThen(visiting as Promise<unknown>, act)).toEqual(['ok', 'ok'])
    expect(await carry()).toBe(end)
  })
})

describe('an answer and', () => {
  const whole = 'succeeded: ask completed, b completed, end completed'
  test.each<[string, Act, Act, boolean, [string, string], string]>([
    ['a cancel after it', resume, cancel, false, ['ok', 'ok'], 'cancelled: ask completed'],
    [
      'a cancel with a cleanup after it',
      resume,
      cancel,
      true,
      ['ok', 'ok'],
      'cancelled: ask completed, undo completed',
    ],
    ['a terminate after it', resume, terminate, true, ['ok', 'ok'], 'terminated: ask failed'],
    ['a second answer', resume, resume, false, ['ok', 'RUN_NOT_PAUSED'], whole],
    ['a cancel before it', cancel, resume, false, ['ok', 'RUN_NOT_PAUSED'], 'cancelled: ask failed'],
    ['a terminate before it', terminate, resume, true, ['ok', 'RUN_NOT_PAUSED'], 'terminated: ask failed'],
  ])('%s', async (_name, first, second, cleanup, said, end) => {
    await atPause(cleanup)
    expect(await inTurn(first, second)).toEqual(said)
    expect(await carry()).toBe(end)
  })

  test('the walk, which looks for it before it is committed: arming the next wait sends the wake-up again', async () => {
    await atPause()
    await withTransaction(ctx, async (tx) => {
      await resume(tx)
      expect(await take(ctx)).toEqual({ wait: { pauseId: PAUSE, arm: 1, dueAt: null } })
    })
    // The wake-up may have arrived before that wait existed.
    await database.sql`delete from outbox where name = 'workflow/run.woken'`
    await arm(ctx)
    expect(await database.sql`select id from outbox where name = 'workflow/run.woken'`).toHaveLength(1)
    expect(await carry()).toBe(whole)
  })

  test.each<[string, Act, string]>([
    ['a cancel', cancel, 'cancelled: ask completed, b failed'],
    ['a terminate', terminate, 'terminated: ask completed, b failed'],
    ['another call that takes it', take, whole],
  ])('%s while it is being taken', async (_name, act, end) => {
    await atPause()
    await resume(ctx)
    expect((await inTurn(take, act))[1]).toBe('ok')
    expect(await carry()).toBe(end)
  })
})

describe('a held answer that is given and', () => {
  const whole = 'succeeded: ask completed, b completed, end completed'
  let person = ''
  let due = new Date(0)
  const give: Act = (c) => giveHeld(c, { runId: claim.runId, pauseId: PAUSE, person, until: due })
  const undo: Act = (c) => undoAnswer(as(c), { runId: claim.runId, pauseId: PAUSE })
  const as = (c: ServiceContext): ServiceContext => ({
    ...c,
    actor: { kind: 'user', id: person, name: 'Tess', sessionId: 's', role: 'operator' },
  })
  beforeAll(async () => {
    person = (await newVisitor(ctx, 'operator')).userId
  })
  /** @param left the remaining work: nothing, or why it was refused */
  test.each<[string, Act, Act, [string, string], string, string[]]>([
    ['an undo before it', undo, give, ['ok', 'ok'], 'paused: ask running', []],
    ['an undo after it', give, undo, ['ok', 'ok'], whole, []],
    ['itself', give, give, ['ok', 'ok'], whole, []],
    ['another answer before it', resume, give, ['ok', 'ok'], whole, ['RUN_NOT_PAUSED']],
    ['another answer after it', give, resume, ['ok', 'RUN_NOT_PAUSED'], whole, []],
    ['a cancel before it', cancel, give, ['ok', 'ok'], 'cancelled: ask failed', ['RUN_NOT_PAUSED']],
    ['a cancel after it', give, cancel, ['ok', 'ok'], 'cancelled: ask completed', []],
    ['a terminate before it', terminate, give, ['ok', 'ok'], 'terminated: ask failed', ['RUN_NOT_PAUSED']],
    ['a terminate after it', give, terminate, ['ok', 'ok'], 'terminated: ask failed', []],
  ])('%s', async (_name, first, second, said, end, left) => {
    await atPause()
    const { runId } = claim
    await holdAnswer(as(ctx), { runId, body: { type: 'collect_inputs', data: { n: 1 } } })
    const rows = () => database.sql<{ until: Date; code: string | null }[]>`
      select until, refused->>'code' as code from held_answers where run_id = ${runId}`
    due = (await rows())[0]?.until ?? due
    expect(await inTurn(first, second)).toEqual(said)
    expect((await rows()).map(({ code }) => code)).toEqual(left)
    expect(await carry()).toBe(end)
  })
})

describe('a vote and', () => {
  const vote =
    (answeredBy: string): Act =>
    (c) =>
      resumeRun(c, { runId: claim.runId, body: { type: 'request_user_action', actionId: 'ok', answeredBy } })
  const whole = 'succeeded: ask completed, b completed, end completed'
  test.each<[string, Act, Act, [string, string], string]>([
    ['the one that decides', vote('ada'), vote('bob'), ['ok', 'ok'], whole],
    ['a second one of the same person', vote('ada'), vote('ada'), ['ok', 'ALREADY_VOTED'], 'paused: ask running'],
    ['a cancel after it', vote('ada'), cancel, ['ok', 'ok'], 'cancelled: ask failed'],
    ['a cancel before it', cancel, vote('ada'), ['ok', 'RUN_NOT_PAUSED'], 'cancelled: ask failed'],
  ])('%s', async (_name, first, second, said, end) => {
    const actions = [{ id: 'ok', label: 'OK' }]
    const ask = { id: 'ask', type: 'request-user-action', actions, needs: { ok: 2 } }
    await begin(ask as never)
    await openForEngine(ctx, claim, PAUSE)
    expect(await inTurn(first, second)).toEqual(said)
    expect(await carry()).toBe(end)
  })
})

describe('a pause that opens and', () => {
  test.each<[string, Act, Act, string]>([
    ['a cancel before it', cancel, arm, 'cancelled: ask failed'],
    ['a cancel after it', arm, cancel, 'cancelled: ask failed'],
    ['a terminate before it', terminate, arm, 'terminated: ask failed'],
    ['a terminate after it', arm, terminate, 'terminated: ask failed'],
  ])('%s', async (_name, first, second, end) => {
    await begin({ id: 'ask', type: 'collect-inputs', output: { n: { type: 'number' } } } as never)
    expect(await inTurn(first, second)).toEqual(['ok', 'ok'])
    expect(await carry()).toBe(end)
    const open = await database.sql`select id from pauses where run_id = ${claim.runId} and answered_at is null`
    expect(open).toHaveLength(0)
  })
})

describe('a cancel and', () => {
  test.each<[string, Act, string]>([
    ['a second cancel', cancel, 'cancelled: ask failed, undo completed'],
    ['a terminate', terminate, 'terminated: ask failed'],
  ])('%s: one cleanup at most', async (_name, second, end) => {
    await atPause(true)
    expect(await inTurn(cancel, second)).toEqual(['ok', 'ok'])
    expect(await carry()).toBe(end)
    const requested = await database.sql`
      select id from outbox where data->>'runId' = ${claim.runId} and data->>'branch' = 'on-cancel'`
    expect(requested).toHaveLength(1)
  })

  test.each<[string, Act, Act]>([
    ['a hand-over before it', handOver, cancel],
    ['a hand-over after it', cancel, handOver],
  ])('%s: no walk goes on', async (_name, first, second) => {
    await atPause()
    await inTurn(first, second)
    expect(await carry()).toBe('cancelled: ask failed')
  })
})
