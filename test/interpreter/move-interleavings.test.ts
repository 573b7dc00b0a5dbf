import { setTimeout as sleep } from 'node:timers/promises'
import { desc } from 'drizzle-orm'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { events } from '@/db/schema/events'
import { type ServiceContext, withTransaction } from '@/server/context'
import { AppError } from '@/server/errors'
import { postEvent } from '@/server/events/post'
import { joinBranch } from '@/server/interpreter/fork/arrive'
import { forkWalk } from '@/server/interpreter/fork/fork'
import { NextStep } from '@/server/interpreter/plan/next-step'
import { answerDue } from '@/server/interpreter/wait/due'
import { lookForEvents } from '@/server/interpreter/wait/events'
import { openForEngine, takeAnswer } from '@/server/interpreter/wait/pause'
import { claimWalk } from '@/server/interpreter/walk/claim'
import { visitStep } from '@/server/interpreter/walk/visit'
import { noteLooked } from '@/server/interpreter/write/marks'
import { log } from '@/server/log'
import type { WalkClaim } from '@/server/run-store/names'
import { cancelRun } from '@/server/runs/cancel'
import { giveHeld } from '@/server/runs/held/give'
import { holdAnswer } from '@/server/runs/held/hold'
import { moveRuns } from '@/server/runs/moves/move'
import { rerunRun } from '@/server/runs/rerun'
import { resumeRun } from '@/server/runs/resume'
import { startRun } from '@/server/runs/start'
import { getRunStatus } from '@/server/runs/status'
import { terminateRun } from '@/server/runs/terminate'
import { createWorkflow, publishWorkflow, updateWorkflow } from '@/server/workflows/lifecycle'
import { until } from '../engine/support'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { expectInvariants } from '../support/invariants/check'
import { installFinality } from '../support/invariants/finality'
import { newTenant } from '../support/tenant'
import { newVisitor } from '../trpc/support'

/*
 * A move and another change of the run, in a given order, as in interleavings.test.ts: the first has written and not yet
 * committed when the second comes and has to wait. A change acknowledged before the move counts; one after it is
 * judged by the question that stands then. With a walk that is parked, and with one that an engine run waits with.
 */

let database: FreshDatabase
let ctx: ServiceContext
let person = ''
beforeAll(async () => {
  database = await freshDatabase({ max: 10 })
  Object.assign(process.env, { DATABASE_URL: database.url, MILLRACE_TEST_STEPS: '1', LOG_LEVEL: 'fatal' })
  ctx = await newTenant(database)
  await installFinality(database.sql)
  person = (await newVisitor(ctx, 'operator')).userId
})
afterEach(() => expectInvariants(database.sql, { engine: false }))
afterAll(() => database?.close())

const PAUSE = 'main:ask#1'
let claim: WalkClaim
let to: number
let workflowId: string

type Steps = { id: string; [field: string]: unknown }[]
const drawn = (first: Steps[number], said: string) => ({
  steps: [first, { id: 'say', type: 'set-data', values: { said } }],
  edges: [{ from: first.id, to: 'say' }],
  initialStep: first.id,
})

const handoff = (rests: boolean) => new NextStep(false, { stopping: () => false, guaranteeNextStep: () => {}, rests })
const engineRunOf = ({ branch, epoch, segment }: Pick<WalkClaim, 'branch' | 'epoch' | 'segment'>) =>
  `engine_${branch}_${epoch}_${segment}`

/** A run whose version asks `before`, and a published one that asks `after`. */
async function atPause(
  before: Steps[number],
  after: Steps[number],
  { parked = false, opened = true } = {},
): Promise<void> {
  const { id } = await createWorkflow(ctx, { name: 'Race', ...drawn(before, 'one') } as never)
  await publishWorkflow(ctx, { id })
  const { runId } = await startRun(ctx, { workflowId: id, body: {} })
  await updateWorkflow(ctx, { id, body: drawn(after, 'two') as never })
  to = (await publishWorkflow(ctx, { id })).version
  workflowId = id
  const ref = { tenantId: ctx.tenantId, runId, branch: 'main', epoch: 1, segment: 1 }
  claim = { ...ref, engineRunId: engineRunOf(ref) }
  if (!opened) return
  await claimWalk(ctx, ref, claim.engineRunId, handoff(parked))
  if (!parked) await openForEngine(ctx, claim, PAUSE)
}

const form = (more: object = {}) => ({ id: 'ask', type: 'collect-inputs', output: { n: { type: 'number' } }, ...more })
const vote = (more: object = {}) => ({
  ...{ id: 'ask', type: 'request-user-action', actions: [{ id: 'ok', label: 'OK' }], needs: { ok: 2 } },
  ...more,
})

type Act = (ctx: ServiceContext) => Promise<unknown>
const move: Act = async (c) => {
  const { moved, refused } = await moveRuns(c, { workflowId, toVersion: to, runIds: [claim.runId], asksAgain: true })
  const [no] = refused
  return moved[0]?.verdict ?? (no?.code === 'MOVE_REFUSED' ? no.reasons.map(({ code }) => code).join() : no?.code)
}
const cancel: Act = (c) => cancelRun(c, { runId: claim.runId })
const terminate: Act = (c) => terminateRun(c, { runId: claim.runId })
const resume =
  (data: object): Act =>
  (c) =>
    resumeRun(c, { runId: claim.runId, body: { type: 'collect_inputs', data } })
const cast =
  (answeredBy: string): Act =>
  (c) =>
    resumeRun(c, { runId: claim.runId, body: { type: 'request_user_action', actionId: 'ok', answeredBy } })
const expire: Act = (c) => answerDue({ db: c.db as never, log: log(), now: () => new Date() })
/** As the delivery of the newest event does. */
const look: Act = async (c) => {
  const [delivered] = await c.db.select().from(events).orderBy(desc(events.seq)).limit(1)
  await lookForEvents(c, { tenantId: ctx.tenantId, runId: claim.runId, id: PAUSE }, delivered ? { delivered } : {})
}

/** The result of a call: its error's code, what a move said, or `ok`. */
const told = (act: Promise<unknown>): Promise<string> =>
  act.then(
    (said) =>
      typeof said === 'string' ? said : said && typeof said === 'object' && 'stop' in said ? String(said.stop) : 'ok',
    (err: unknown) => (err instanceof AppError ? err.code : String(err)),
  )

/** `first` has done all its writes when `second` begins, and commits once `second` has to wait for it. */
async function inTurn(first: Act, second: Act): Promise<[string, string]> {
  let later = Promise.resolve('')
  const earlier = await withTransaction(ctx, async (tx) => {
    const said = await told(first(tx))
    later = told(second(ctx))
    await until(async () => {
      const [row] = await database.sql<{ waiting: number }[]>`
        select count(*)::int as waiting from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`
      return row?.waiting === 1
    }, 5_000)
    return said
  })
  return [earlier, await later]
}

/** Continues every open walk, as the engine would, until the run has ended or waits. */
async function carry(parked: boolean): Promise<string> {
  const { tenantId, runId } = claim
  for (let turn = 0; turn < 20; turn++) {
    const [walk] = await database.sql<{ branch: string; epoch: number; segment: number; status: string }[]>`
      select branch, epoch, segment, status from walks where run_id = ${runId} and status in ('requested', 'walking')`
    if (!walk) break
    const ref = { tenantId, runId, ...walk, engineRunId: engineRunOf(walk) }
    const receipt =
      walk.status === 'requested' || walk.branch !== 'main'
        ? await claimWalk(ctx, ref, ref.engineRunId, handoff(parked))
        : await takeAnswer(ctx, ref, PAUSE, 0, handoff(parked))
    if ('next' in receipt) await visitStep(ctx, ref, receipt.next, handoff(parked))
    if ('arrive' in receipt) await joinBranch(ctx, ref)
    if ('wait' in receipt) {
      await openForEngine(ctx, ref, PAUSE)
      const waited = await takeAnswer(ctx, ref, PAUSE, 0, handoff(parked))
      if ('wait' in waited) break
    }
  }
  const run = await getRunStatus(ctx, { runId })
  const version = run.workflowVersion === to ? 'two' : 'one'
  const said = run.data && typeof run.data === 'object' && 'said' in run.data ? `, said ${run.data.said}` : ''
  return `${run.outcome ?? run.status} on ${version}${said}`
}

const other = form({ output: { m: { type: 'string' } } })
const same = form({ saveAs: 'form' })
const [one, two] = ['succeeded on one, said one', 'succeeded on two, said two']

const lookedOf = async () =>
  (await database.sql<{ looked: boolean }[]>`select looked from pauses where run_id = ${claim.runId}`)[0]?.looked

describe.each([
  ['a parked walk', true],
  ['a walk that an engine run waits with', false],
])('%s: a move and', (_walk, parked) => {
  test.each<[string, object, object, Act, Act, [string, string], string]>([
    ['an answer before it', form(), other, resume({ n: 1 }), move, ['ok', 'BUSY'], one],
    ['an answer before it, to a question that stays', form(), same, resume({ n: 1 }), move, ['ok', 'BUSY'], one],
    [
      'an answer after it, to the old question',
      form(),
      other,
      move,
      resume({ n: 1 }),
      ['asks_again', 'INVALID_INPUT'],
      'paused on two',
    ],
    ['an answer after it, to a question that stays', form(), same, move, resume({ n: 1 }), ['safe', 'ok'], two],
    ['a cancel before it', form(), same, cancel, move, ['ok', 'RUN_ALREADY_ENDED'], 'cancelled on one'],
    ['a cancel after it', form(), same, move, cancel, ['safe', 'ok'], 'cancelled on two'],
    ['a terminate before it', form(), same, terminate, move, ['ok', 'RUN_ALREADY_ENDED'], 'terminated on one'],
    ['a terminate after it', form(), same, move, terminate, ['safe', 'ok'], 'terminated on two'],
    ['itself', form(), other, move, move, ['asks_again', 'safe'], 'paused on two'],
    ['a vote before it', vote(), vote({ title: 'B' }), cast('ada'), move, ['ok', 'VOTES_LOST'], 'paused on one'],
    ['a vote before it, where the question stays', vote(), vote(), cast('ada'), move, ['ok', 'safe'], 'paused on two'],
    ['a vote after it', vote(), vote({ title: 'B' }), move, cast('ada'), ['asks_again', 'ok'], 'paused on two'],
    [
      'the time of its task, before it',
      form({ expiresIn: 'PT1S' }),
      form({ expiresIn: 'P1D' }),
      expire,
      move,
      ['ok', 'BUSY'],
      'timed_out on one',
    ],
    [
      'the time of its task, after it: it has another day',
      form({ expiresIn: 'PT1S' }),
      form({ expiresIn: 'P1D' }),
      move,
      expire,
      ['asks_again', 'ok'],
      'paused on two',
    ],
  ])('%s', async (_name, before, after, first, second, said, end) => {
    await atPause(before as never, after as never, { parked })
    if ([first, second].includes(expire)) await sleep(1_100)
    expect(await inTurn(first, second)).toEqual(said)
    expect(await carry(parked)).toBe(end)
  })

  const waits = (key: string) => ({ id: 'ask', type: 'wait-for-event', event: `paid-${_walk}`, key })
  test.each<[string, string, Act, Act, [string, string], string]>([
    ['an event before it', 'k', look, move, ['ok', 'BUSY'], one],
    [
      'an event after it, which the wait does not take any more',
      'other',
      move,
      look,
      ['asks_again', 'ok'],
      'running on two',
    ],
    ['an event after it, which it still takes', 'k', move, look, ['safe', 'ok'], two],
  ])('%s', async (_name, key, first, second, said, end) => {
    await atPause(waits('k') as never, waits(key) as never, { parked })
    await postEvent(ctx, { name: `paid-${_walk}`, key: 'k', data: {} })
    expect(await inTurn(first, second)).toEqual(said)
    await look(ctx)
    expect(await carry(parked)).toBe(end)
    await database.sql`delete from events`
  })

  test.each<[string, object, Act | null, string, string[], string]>([
    ['a held answer, where the question stays', same, null, 'safe', [], two],
    ['a held answer, where it changes', other, null, 'ANSWER_HELD', [], one],
  ])('%s', async (_name, after, _act, said, left, end) => {
    await atPause(form() as never, after as never, { parked })
    const { runId } = claim
    const as: ServiceContext = {
      ...ctx,
      actor: { kind: 'user', id: person, name: 'Tess', sessionId: 's', role: 'operator' },
    }
    await holdAnswer(as, { runId, body: { type: 'collect_inputs', data: { n: 1 } } })
    const rows = () => database.sql<{ until: Date; code: string | null }[]>`
      select until, refused->>'code' as code from held_answers where run_id = ${runId}`
    const due = (await rows())[0]?.until ?? new Date()
    const give: Act = (c) => giveHeld(c, { runId, pauseId: PAUSE, person, until: due })
    expect(await inTurn(move, give)).toEqual([said, 'ok'])
    expect((await rows()).map(({ code }) => code)).toEqual(left)
    expect(await carry(parked)).toBe(end)
  })

  test('a process that looked for events before it does not say that the wait has looked for those of now', async () => {
    await atPause(waits('x') as never, waits('y') as never, { parked })
    const [walk] = await database.sql<{ epoch: number }[]>`select epoch from walks where run_id = ${claim.runId}`
    expect(await told(move(ctx))).toBe('asks_again')
    // The move looks itself, as soon as it has committed.
    await until(async () => (await lookedOf()) === true)
    await database.sql`update pauses set looked = false where run_id = ${claim.runId}`
    await noteLooked(ctx, { tenantId: ctx.tenantId, runId: claim.runId, id: PAUSE, epoch: walk?.epoch ?? 0 })
    expect(await lookedOf()).toBe(false)
    await cancel(ctx)
  })
})

describe('a run that has begun nothing: a move and', () => {
  const first: Act = (c) => claimWalk(c, claim, claim.engineRunId, handoff(true))
  test.each<[string, Act, Act, [string, string], string]>([
    ['the claim before it', first, move, ['resting', 'asks_again'], 'paused on two'],
    ['the claim after it, of the old engine run', move, first, ['safe', 'superseded'], 'paused on two'],
  ])('%s', async (_name, one, two, said, end) => {
    await atPause(form() as never, { ...other, id: 'ask' } as never, { opened: false })
    expect(await inTurn(one, two)).toEqual(said)
    expect(await carry(true)).toBe(end)
  })

  test('it begins at the first step of the other version', async () => {
    await atPause(form() as never, { ...other, id: 'elsewhere' } as never, { opened: false })
    expect(await told(move(ctx))).toBe('safe')
    expect(await carry(true)).toBe('paused on two')
    expect(await getRunStatus(ctx, { runId: claim.runId })).toMatchObject({ currentStepId: 'elsewhere' })
  })
})

describe('a run that has begun nothing', () => {
  const limit = { limit: { type: 'number', default: 5 } }

  test('gets the defaults of START fields that only the other version has', async () => {
    await atPause(form() as never, form() as never, { opened: false })
    const said = { ...drawn(form() as never, 'two ${limit}'), payload: limit }
    await updateWorkflow(ctx, { id: workflowId, body: said as never })
    to = (await publishWorkflow(ctx, { id: workflowId })).version
    expect(await told(move(ctx))).toBe('safe')
    expect(await carry(true)).toBe('paused on two')
    await resumeRun(ctx, { runId: claim.runId, body: { type: 'collect_inputs', data: { n: 1 } } })
    expect(await carry(true)).toBe('succeeded on two, said two 5')
    const [row] = await database.sql<{ input: object }[]>`select input from runs where id = ${claim.runId}`
    expect(row?.input).toEqual({ limit: 5 })
  })

  test('is not moved if it would begin on the failure path of the other version', async () => {
    await atPause(form() as never, form() as never, { parked: true })
    await resumeRun(ctx, { runId: claim.runId, body: { type: 'collect_inputs', data: { n: 1 } } })
    expect(await carry(true)).toBe(one)
    const failing = {
      ...drawn(form() as never, 'two'),
      ...{ edges: [], onFailure: 'say' },
    }
    await updateWorkflow(ctx, { id: workflowId, body: failing as never })
    to = (await publishWorkflow(ctx, { id: workflowId })).version
    const { runId } = await rerunRun(ctx, { runId: claim.runId, body: { fromStepId: 'say' } })
    claim = { ...claim, runId }
    expect(await told(move(ctx))).toBe('STEP_GONE')
    expect(await carry(true)).toBe(one)
  })
})

test('a branch that arrives before a move of its run is counted, and the fork joins under the other version', async () => {
  const fork = (said: string) => ({
    steps: [
      { id: 'ask', type: 'parallel', branches: [{ id: 'a' }, { id: 'b' }] },
      { id: 'one', type: 'collect-inputs', output: { x: { type: 'number' } } },
      { id: 'two', type: 'collect-inputs', output: { y: { type: 'number' } } },
      { id: 'say', type: 'set-data', values: { said } },
    ],
    edges: [
      { from: 'ask', to: 'one', on: 'a' },
      { from: 'ask', to: 'two', on: 'b' },
      { from: 'ask', to: 'say', on: 'done' },
    ],
    initialStep: 'ask',
  })
  const { id } = await createWorkflow(ctx, { name: 'Fork', ...fork('one') } as never)
  await publishWorkflow(ctx, { id })
  const { runId } = await startRun(ctx, { workflowId: id, body: {} })
  await updateWorkflow(ctx, { id, body: fork('two') as never })
  to = (await publishWorkflow(ctx, { id })).version
  workflowId = id
  const ref = { tenantId: ctx.tenantId, runId, branch: 'main', epoch: 1, segment: 1 }
  claim = { ...ref, engineRunId: engineRunOf(ref) }
  await claimWalk(ctx, ref, claim.engineRunId, handoff(true))
  await forkWalk(ctx, claim, { stepId: 'ask', visit: 1 })
  await carry(true)
  await resumeRun(ctx, { runId, body: { type: 'collect_inputs', stepId: 'one', data: { x: 1 } } })
  const branch = { ...ref, branch: 'main/ask#1/a' }
  const [walk] = await database.sql<{ epoch: number; segment: number }[]>`
    select epoch, segment from walks where run_id = ${runId} and branch = ${branch.branch}`
  const mine = { ...branch, ...walk, engineRunId: engineRunOf({ ...branch, ...walk }) }
  expect(await told(move(ctx))).toBe('BUSY')
  await claimWalk(ctx, mine, mine.engineRunId, handoff(true))
  expect(await told(move(ctx))).toBe('BUSY')
  expect(await inTurn((c) => joinBranch(c, mine), move)).toEqual(['arrived', 'safe'])
  await resumeRun(ctx, { runId, body: { type: 'collect_inputs', stepId: 'two', data: { y: 2 } } })
  expect(await carry(true)).toBe(two)
})
