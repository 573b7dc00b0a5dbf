import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ServiceContext, withTransaction } from '@/server/context'
import { timeOutRuns } from '@/server/interpreter/stop/time-out'
import { log } from '@/server/log'
import { moveRuns } from '@/server/runs/moves/move'
import { moveBack } from '@/server/runs/moves/move-back'
import { listMovable } from '@/server/runs/moves/open-runs'
import { resumeRun } from '@/server/runs/resume'
import { startRun } from '@/server/runs/start'
import { createWorkflow, publishWorkflow, updateWorkflow } from '@/server/workflows/lifecycle'
import { until } from '../engine/support'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { startTestRuntime, type TestRuntime } from '../support/runtime'
import { newVisitor } from '../trpc/support'
import { holdEffects } from './held'
import { ask, asksTwice, type Drawn, END, hasBegun, isPaused, path, say, told, waiting as waitingIn } from './moving'

/* Moves to versions in which the run stands elsewhere: before what it has done, in a branch, or below another run. */

let database: FreshDatabase
let runtime: TestRuntime
let ctx: ServiceContext
beforeAll(async () => {
  database = await freshDatabase({ max: 20 })
  runtime = await startTestRuntime(database.url)
  ctx = runtime.ctx
})
// Checks the invariants, among them those of moves.
afterAll(async () => {
  await runtime?.stop()
  await database?.close()
})

const answer = (runId: string, data: object = { n: 1 }, stepId?: string) =>
  resumeRun(ctx, { runId, body: { type: 'collect_inputs', data, ...(stepId ? { stepId } : {}) } })
const waiting = (before: Drawn, after: Drawn, more?: Parameters<typeof waitingIn>[3]) =>
  waitingIn(runtime, before, after, more)

describe('a step that was done before the move', () => {
  test('is visited once more where the version has it ahead', async () => {
    const { runId, move } = await waiting(path(say('one'), ask()), path(ask(), say('two')))
    expect(told(await move())).toBe('safe')
    await answer(runId)
    const run = await runtime.wait(runId, undefined, END)
    expect(run).toMatchObject({ outcome: 'succeeded', result: { said: 'two' } })
    expect(run.stepExecutionHistory.map(({ stepId, visit }) => [stepId, visit ?? 1])).toEqual([
      ['say', 1],
      ['ask', 1],
      ['say', 2],
    ])
  })

  test('is visited once more on the failure path of the version', async () => {
    const bad = { id: 'bad', type: 'fail-flow', code: 'NO', message: 'no' }
    const after = path(ask(), bad)
    const { runId, move } = await waiting(path(say('one'), ask()), {
      ...{ ...after, onFailure: 'say' },
      steps: [...after.steps, say('failed')],
    })
    expect(told(await move())).toBe('safe')
    await answer(runId)
    const run = await runtime.wait(runId, undefined, END)
    expect(run).toMatchObject({ outcome: 'failed', error: { code: 'NO' }, data: { said: 'failed' } })
  })

  test('is no call that would be made again: a run is not moved then', async () => {
    const held = await holdEffects()
    held.release()
    const charge = { id: 'charge', type: 'test-effect', url: held.url }
    const after: Drawn = {
      steps: [ask({ maxVisits: 5 }), charge, { id: 'if', type: 'condition', when: '${n} > 5' }],
      initialStep: 'ask',
      edges: [
        { from: 'ask', to: 'charge' },
        { from: 'charge', to: 'if' },
        { from: 'if', to: 'ask', on: 'false' },
      ],
    }
    const { move, publish, workflowId, runId } = await waiting(path(charge, ask()), after)
    const made = await move()
    expect(told(made)).toBe('not_possible CALL_REPEATED')
    expect(made.refused[0]?.reasons[0]).toMatchObject({
      stepId: 'charge',
      message: 'It has done charge, which comes after ask in that version: it would be done again.',
    })
    const to = await publish(path(charge, ask(), say('two')))
    expect(told(await moveRuns(ctx, { workflowId, toVersion: to, runIds: [runId] }))).toBe('safe')
    await held.stop()
  })
})

describe('a run is not moved', () => {
  const both = { id: 'both', type: 'parallel', branches: [{ id: 'a' }, { id: 'b' }] }
  const other = { id: 'other', type: 'set-data', values: { other: 1 } }

  test('into a branch', async () => {
    const { move } = await waiting(path(ask(), say('one')), {
      steps: [both, ask(), other, say('two')],
      initialStep: 'both',
      edges: [
        { from: 'both', to: 'ask', on: 'a' },
        { from: 'both', to: 'other', on: 'b' },
        { from: 'both', to: 'say', on: 'done' },
      ],
    })
    expect(told(await move())).toBe('not_possible BRANCHES_CHANGED')
  })

  test('with its branches into another branch', async () => {
    const questions = [
      { id: 'one', type: 'collect-inputs', output: { x: { type: 'number' } } },
      { id: 'two', type: 'collect-inputs', output: { y: { type: 'number' } } },
    ]
    const inner = [
      { from: 'both', to: 'one', on: 'a' },
      { from: 'both', to: 'two', on: 'b' },
    ]
    const before: Drawn = { steps: [both, ...questions], initialStep: 'both', edges: inner }
    const outer = { id: 'outer', type: 'parallel', branches: [{ id: 'p' }, { id: 'q' }] }
    const after: Drawn = {
      ...{ steps: [outer, both, ...questions, other], initialStep: 'outer' },
      edges: [{ from: 'outer', to: 'both', on: 'p' }, { from: 'outer', to: 'other', on: 'q' }, ...inner],
    }
    const { move } = await waiting(before, after, { until: asksTwice })
    expect(told(await move())).toMatch(/^not_possible BRANCHES_CHANGED/)
  })

  test('if the run that waits for it takes another result', async () => {
    const child = await createWorkflow(ctx, { name: 'Child', ...path(ask()) } as never)
    await publishWorkflow(ctx, { id: child.id })
    const call = { id: 'call', type: 'run-workflow', workflowId: child.id, saveAs: 'got' }
    const parent = path(call, { id: 'say', type: 'set-data', values: { said: 'n is ${got.n}' } })
    const { id } = await createWorkflow(ctx, { name: 'Parent', ...parent } as never)
    await publishWorkflow(ctx, { id })
    const { runId } = await startRun(ctx, { workflowId: id, body: {} })
    await runtime.wait(runId, hasBegun, END)
    const [found] = await database.sql<{ id: string }[]>`
      select child_run_id as id from pauses where run_id = ${runId}`
    const runIds = [found?.id ?? '']
    await until(async () => (await database.sql`select 1 from runs where id = any(${runIds})`).length > 0)
    await runtime.wait(runIds[0] ?? '', isPaused, END)
    const publish = async (drawn: Drawn) => {
      await updateWorkflow(ctx, { id: child.id, body: drawn as never })
      return (await publishWorkflow(ctx, { id: child.id })).version
    }
    const moved = async (drawn: Drawn) =>
      told(await moveRuns(ctx, { workflowId: child.id, toVersion: await publish(drawn), runIds, asksAgain: true }))
    expect(await moved(path(ask({ saveAs: 'form' })))).toBe('not_possible CHILD_CHANGED')
    expect(await moved(path(ask({ title: 'Same result' })))).toBe('asks_again')
    await answer(runIds[0] ?? '', { n: 3 })
    expect(await runtime.wait(runId, undefined, END)).toMatchObject({ outcome: 'succeeded', data: { said: 'n is 3' } })
  })
})

test('a run does not time out if it was moved to a version that gives it more time', async () => {
  const { workflowId, runId, to } = await waiting(
    { ...path(ask()), limits: { timeoutMs: 60_000 } },
    { ...path(ask(), say('two')), limits: { timeoutMs: 86_400_000 } },
  )
  const at = new Date(Date.now() + 120_000)
  let swept: Promise<unknown> = Promise.resolve()
  await withTransaction(ctx, async (tx) => {
    expect(told(await moveRuns(tx, { workflowId, toVersion: to, runIds: [runId] }))).toBe('safe')
    swept = timeOutRuns({ db: database.db, log: log(), now: () => at }, at)
    await until(async () => {
      const [row] = await database.sql<{ n: number }[]>`
        select count(*)::int as n from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`
      return (row?.n ?? 0) > 0
    }, 5_000)
  })
  await swept
  expect(await runtime.status(runId)).toMatchObject({ status: 'paused', workflowVersion: to })
})

test('a claim of a member who may not answer the new question ends, and the audit log has the move', async () => {
  const [ada, bob] = [await newVisitor(ctx, 'operator'), await newVisitor(ctx, 'operator')]
  const to = ({ userId }: { userId: string }) => path(ask({ assignees: [`user:${userId}`] }))
  const { runId, move } = await waiting(to(ada), to(bob))
  await database.sql`
    insert into task_claims (tenant_id, run_id, pause_id, person, claimed_by, claimed_at)
    values (${ctx.tenantId}, ${runId}, 'main:ask#1', ${ada.userId}, ${ada.userId}, now())`
  const made = await move({ asksAgain: true })
  expect(told(made)).toBe('asks_again')
  expect(await database.sql`select person from task_claims where run_id = ${runId}`).toHaveLength(0)
  const [entry] = await database.sql<{ details: object }[]>`
    select details from audit_entries where thing_id = ${runId} and action = 'run.moved'`
  expect(entry?.details).toMatchObject({ batch: made.batch, askedAgain: ['ask'] })
})

test('runs of a draft stay when a batch moves back, and the others go', async () => {
  const { id: workflowId } = await createWorkflow(ctx, { name: 'Draft', ...path(ask()) } as never)
  const first = (await publishWorkflow(ctx, { id: workflowId })).version
  await updateWorkflow(ctx, { id: workflowId, body: path(ask(), say('draft')) as never })
  const trial = await startRun(ctx, { workflowId, body: {}, version: 'latest', test: true } as never)
  const real = await startRun(ctx, { workflowId, body: {}, version: String(first) })
  for (const { runId } of [trial, real]) await runtime.wait(runId, isPaused, END)
  await updateWorkflow(ctx, { id: workflowId, body: path(ask(), say('new')) as never })
  const { version: toVersion } = await publishWorkflow(ctx, { id: workflowId })
  const { batch } = await moveRuns(ctx, { workflowId, toVersion, runIds: [trial.runId, real.runId] })
  expect(await moveBack(ctx, { workflowId, batch })).toMatchObject({
    moved: [{ runId: real.runId }],
    refused: [{ runId: trial.runId, verdict: 'not_possible' }],
    left: false,
  })
  const list = listMovable(ctx, { id: workflowId, query: { to: String(toVersion), after: 'nothing' } })
  await expect(list).rejects.toMatchObject({ code: 'INVALID_INPUT' })
})
