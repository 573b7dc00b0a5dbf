import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ServiceContext } from '@/server/context'
import { postEvent } from '@/server/events/post'
import { answerParked, findOpenPauses, parkedAt } from '@/server/interpreter/index'
import { type MovesMade, moveRuns } from '@/server/runs/moves/move'
import { moveBack } from '@/server/runs/moves/move-back'
import { listMovable } from '@/server/runs/moves/open-runs'
import { resumeRun } from '@/server/runs/resume'
import { setVaultSecret } from '@/server/vault/set'
import { createWorkflow, publishWorkflow } from '@/server/workflows/lifecycle'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { startTestRuntime, type TestRuntime } from '../support/runtime'
import {
  ask,
  asksTwice,
  type Drawn,
  decide,
  END,
  hasBegun,
  isPaused,
  path,
  say,
  told,
  waiting as waitingIn,
} from './moving'

let database: FreshDatabase
let runtime: TestRuntime
let ctx: ServiceContext
beforeAll(async () => {
  database = await freshDatabase({ max: 20 })
  runtime = await startTestRuntime(database.url, { ENCRYPTION_KEY: 'ab'.repeat(32) })
  ctx = runtime.ctx
})
// Checks the invariants, among them those of moves.
afterAll(async () => {
  await runtime?.stop()
  await database?.close()
})

const movesOf = (runId: string) => database.sql<{ n: number; from: number; to: number }[]>`
  select n, from_version as from, to_version as to from run_moves where run_id = ${runId} order by n`
const answer = (runId: string, data: object = { n: 1 }) =>
  resumeRun(ctx, { runId, body: { type: 'collect_inputs', data } })

const waiting = (before: Drawn, after: Drawn, more?: Parameters<typeof waitingIn>[3]) =>
  waitingIn(runtime, before, after, more)

describe('a run that waits', () => {
  test('continues on the other version with its answer, which the process that asked would plan under the old one', async () => {
    const { runId, to, from, move } = await waiting(
      path(ask(), say('one')),
      path(ask({ saveAs: 'form' }), say('two ${form.n}')),
    )
    expect(told(await move())).toBe('safe')
    expect(await movesOf(runId)).toEqual([{ n: 1, from, to }])
    expect(await runtime.status(runId)).toMatchObject({ status: 'paused', workflowVersion: to })
    await answer(runId, { n: 7 })
    const run = await runtime.wait(runId, undefined, END)
    expect(run).toMatchObject({ outcome: 'succeeded', workflowVersion: to, result: { said: 'two 7', form: { n: 7 } } })
  })

  test('refuses an answer that another process has planned under the old version, which reads it then', async () => {
    const { runId, to, move } = await waiting(path(ask(), say('one')), path(ask({ title: 'B' }), say('two')))
    const [open] = await findOpenPauses(ctx, runId)
    const parked = open && parkedAt([open], open)
    if (!parked) throw new Error('the run is not parked')
    expect(told(await move({ asksAgain: true }))).toBe('asks_again')
    expect(await answerParked(ctx, parked, { data: { n: 1 } })).toBeNull()
    expect(await runtime.status(runId)).toMatchObject({ status: 'paused', workflowVersion: to })
    await answer(runId)
    expect(await runtime.wait(runId, undefined, END)).toMatchObject({ result: { said: 'two' } })
  })

  test('is asked again in its place, if the other version asks something else', async () => {
    const { runId, to, move } = await waiting(
      path(ask(), say('one')),
      path(ask({ output: { m: { type: 'string' } }, title: 'Which?' }), say('two ${m}')),
    )
    expect(told(await move())).toBe('asks_again')
    expect(told(await move({ asksAgain: true }))).toBe('asks_again')
    await expect(answer(runId)).rejects.toMatchObject({ code: 'INVALID_INPUT' })
    expect((await runtime.status(runId)).pauseSignal).toMatchObject({ id: 'main:ask#1', title: 'Which?' })
    await answer(runId, { m: 'x' })
    const run = await runtime.wait(runId, undefined, END)
    expect(run).toMatchObject({ workflowVersion: to, result: { said: 'two x' } })
    expect(run.stepExecutionHistory.map(({ stepId }) => stepId)).toEqual(['ask', 'say'])
  })

  test('moves back as long as it has not gone on, with its old question', async () => {
    const { workflowId, runId, from, move } = await waiting(
      path(ask(), say('one')),
      path(ask({ title: 'Now' }), say('two')),
    )
    const { batch } = await move({ asksAgain: true })
    const back = await moveBack(ctx, { workflowId, batch })
    expect([told(back), back.left]).toEqual(['asks_again', false])
    expect((await runtime.status(runId)).pauseSignal).not.toHaveProperty('title')
    await answer(runId)
    expect(await runtime.wait(runId, undefined, END)).toMatchObject({ workflowVersion: from, result: { said: 'one' } })
    expect(await moveBack(ctx, { workflowId, batch: back.batch })).toMatchObject({
      moved: [],
      refused: [],
      left: false,
    })
  })

  test('counts as moved if it has the version, is not found in another workflow, and has ended or not', async () => {
    const { workflowId, runId, to, from, move } = await waiting(path(ask()), path(ask(), say('two')))
    await move()
    expect(told(await move())).toBe('safe')
    expect(await movesOf(runId)).toHaveLength(1)
    const other = await waiting(path(ask()), path(ask(), say('two')))
    expect(told(await moveRuns(ctx, { workflowId, toVersion: to, runIds: [other.runId] }))).toBe('RUN_NOT_FOUND')
    await answer(runId)
    await runtime.wait(runId, undefined, END)
    expect(told(await moveRuns(ctx, { workflowId, toVersion: from, runIds: [runId] }))).toBe('RUN_ALREADY_ENDED')
  })

  test('for an event waits for another one, also for one that arrived before', async () => {
    const wait = (key: string) => ({ id: 'ask', type: 'wait-for-event', event: 'paid', key, saveAs: 'event' })
    const { runId, to, move } = await waiting(path(wait('a'), say('one')), path(wait('b'), say('two ${event.key}')), {
      until: hasBegun,
    })
    await postEvent(ctx, { name: 'paid', key: 'b', data: {} })
    expect(told(await move({ asksAgain: true }))).toBe('asks_again')
    const run = await runtime.wait(runId, undefined, END)
    expect(run).toMatchObject({ workflowVersion: to, result: { said: 'two b' } })
  })

  test('for a time waits for another one, from its beginning', async () => {
    const delay = (time: string) => ({ id: 'ask', type: 'delay', for: time })
    const { runId, move } = await waiting(path(delay('P1D'), say('one')), path(delay('PT1S'), say('two')), {
      until: hasBegun,
    })
    expect(told(await move({ asksAgain: true }))).toBe('asks_again')
    expect(await runtime.wait(runId, undefined, END)).toMatchObject({ result: { said: 'two' } })
  })

  test('in two branches continues in both, joined under the other version', async () => {
    const fork = (result: string): Drawn => ({
      steps: [
        { id: 'both', type: 'parallel', branches: [{ id: 'a' }, { id: 'b' }] },
        { id: 'one', type: 'collect-inputs', output: { x: { type: 'number' } } },
        { id: 'two', type: 'collect-inputs', output: { y: { type: 'number' } } },
        say(result),
      ],
      edges: [
        { from: 'both', to: 'one', on: 'a' },
        { from: 'both', to: 'two', on: 'b' },
        { from: 'both', to: 'say', on: 'done' },
      ],
    })
    const { runId, to, move } = await waiting(fork('one'), fork('two ${x} ${y}'), { until: asksTwice })
    await resumeRun(ctx, { runId, body: { type: 'collect_inputs', stepId: 'one', data: { x: 1 } } })
    await runtime.wait(runId, ({ pauseSignals }) => pauseSignals.length === 1, END)
    expect(told(await moveUntilFree(move))).toBe('safe')
    await resumeRun(ctx, { runId, body: { type: 'collect_inputs', stepId: 'two', data: { y: 2 } } })
    expect(await runtime.wait(runId, undefined, END)).toMatchObject({
      workflowVersion: to,
      result: { said: 'two 1 2' },
    })
  })

  test('for another run gets its end under the other version', async () => {
    const child = await createWorkflow(ctx, { name: 'Child', ...path(ask()) } as never)
    await publishWorkflow(ctx, { id: child.id })
    const run = { id: 'call', type: 'run-workflow', workflowId: child.id, saveAs: 'got' }
    const { runId, to, move } = await waiting(path(run, say('one')), path(run, say('two ${got.n}')), {
      until: hasBegun,
    })
    expect(told(await move())).toBe('safe')
    const [found] = await database.sql<{ id: string }[]>`select id from runs where parent_run_id = ${runId}`
    await runtime.wait(found?.id ?? '', isPaused, END)
    await answer(found?.id ?? '', { n: 5 })
    expect(await runtime.wait(runId, undefined, END)).toMatchObject({ workflowVersion: to, result: { said: 'two 5' } })
  })

  test('for votes keeps them, unless they may be dropped; then its links are revoked, and the move has the votes', async () => {
    const needs = { needs: { ok: 2 } }
    const { runId, move } = await waiting(path(decide(needs)), path(decide({ ...needs, title: 'Really?' })))
    await resumeRun(ctx, { runId, body: { type: 'request_user_action', actionId: 'ok', answeredBy: 'ada' } })
    await database.sql`
      insert into task_links (tenant_id, id, run_id, pause_id, maker_kind, maker_id, expires_at)
      values (${ctx.tenantId}, 'lnk_1', ${runId}, 'main:ask#1', 'user', 'u', now() + interval '1 day')`
    expect(told(await move({ asksAgain: true }))).toBe('not_possible VOTES_LOST')
    expect(told(await move({ asksAgain: true, dropVotes: true }))).toBe('asks_again')
    const [row] = await database.sql<{ votes: string; revoked: boolean; asked: { votes: object[] }[] }[]>`
      select (select count(*) from pause_votes where run_id = ${runId}) as votes,
        (select revoked_at is not null from task_links where id = 'lnk_1') as revoked,
        (select asked from run_moves where run_id = ${runId}) as asked`
    expect(row).toMatchObject({ votes: '0', revoked: true, asked: [{ votes: [{ by: 'ada', actionId: 'ok' }] }] })
  })
})

/** Until no branch is about to be counted. */
async function moveUntilFree(move: () => Promise<MovesMade>): Promise<MovesMade> {
  for (let tries = 0; ; tries++) {
    const made = await move()
    if (tries === 50 || !told(made).startsWith('not_now')) return made
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

test('the list hides a value of the vault in the key of a run', async () => {
  const keyed: Drawn = {
    ...path(ask()),
    payload: { order: { type: 'string' } },
    businessKey: '${order}',
  }
  const { workflowId, to } = await waiting(
    keyed,
    { ...keyed, ...path(ask(), say('x')) },
    { data: { order: 'swordfish_8472' } },
  )
  await setVaultSecret(ctx, { name: 'WORD', value: 'swordfish_8472' })
  const { runs } = await listMovable(ctx, { id: workflowId, query: { to: String(to) } })
  expect(runs).toMatchObject([{ businessKey: '***', verdict: 'safe' }])
})

test('the list of open runs tells what stands against each, and what its task would ask', async () => {
  const { workflowId, runId, to, publish } = await waiting(path(ask()), path(ask({ title: 'New' })))
  const listed = await listMovable(await runtime.as('viewer'), { id: workflowId, query: { to: String(to) } })
  expect(listed).toMatchObject({
    next: null,
    runs: [{ runId, verdict: 'asks_again', reasons: [], changes: [{ stepId: 'ask', what: ['title'] }], stepId: 'ask' }],
  })
  const gone = await publish(path(decide()))
  const { runs } = await listMovable(ctx, { id: workflowId, query: { to: String(gone) } })
  expect(runs).toMatchObject([{ runId, verdict: 'not_possible', reasons: [{ code: 'STEP_TYPE', stepId: 'ask' }] }])
})
