import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ServiceContext } from '@/server/context'
import { cancelRun } from '@/server/runs/cancel'
import { moveRuns } from '@/server/runs/moves/move'
import { resumeRun } from '@/server/runs/resume'
import { startRun } from '@/server/runs/start'
import { updateWorkflow } from '@/server/workflows/lifecycle'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { startTestRuntime, type TestRuntime } from '../support/runtime'
import { type HeldEffects, holdEffects } from './held'
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

describe('a run is not moved', () => {
  let held: HeldEffects
  beforeEach(async () => {
    held = await holdEffects()
  })
  afterEach(async () => {
    held.release()
    await held.stop()
  })
  const reads = (name: string) => ({ id: 'say', type: 'set-data', values: { said: `\${${name}}` } })
  test.each<[string, Drawn, Drawn, string]>([
    ['the step is gone', path(ask()), path({ ...ask(), id: 'other' }), 'not_possible STEP_GONE'],
    ['the step has another type', path(ask()), path(decide()), 'not_possible STEP_TYPE'],
    [
      'a step ahead reads what the run does not have',
      path(ask()),
      path({ id: 'before', type: 'set-data', values: { x: '1' } }, ask(), reads('x')),
      'not_possible DATA_MISFIT',
    ],
    [
      'a step ahead reads another type',
      path({ id: 'before', type: 'set-data', values: { x: 'text' } }, ask(), say('a')),
      path({ id: 'before', type: 'set-data', compute: { x: '1 + 1' } }, ask(), {
        id: 'say',
        type: 'set-data',
        compute: { y: '${x} + 1' },
      }),
      'not_possible DATA_MISFIT',
    ],
    ['its task has no time left there', path(ask()), path(ask({ expiresIn: 'PT0.001S' })), 'not_possible TIME_UP'],
    [
      'it has taken too long there',
      path(ask()),
      { ...path(ask()), limits: { timeoutMs: 1_000 } },
      'not_possible TIME_UP',
    ],
    [
      'a field would no longer be hidden',
      { ...path(ask()), payload: { pin: { type: 'string', required: false, sensitive: true } } },
      { ...path(ask()), payload: { pin: { type: 'string', required: false } } },
      'not_possible HIDDEN_FIELD',
    ],
  ])('if %s', async (_name, before, after, said) => {
    const { runId, move, from } = await waiting(before, after)
    if (after.limits) await new Promise((resolve) => setTimeout(resolve, 1_000))
    expect(told(await move({ asksAgain: true }))).toBe(said)
    expect(await movesOf(runId)).toEqual([])
    expect(await runtime.status(runId)).toMatchObject({ workflowVersion: from })
  })

  test('while branches are open whose steps differ', async () => {
    const fork = (title: string): Drawn => ({
      steps: [
        { id: 'both', type: 'parallel', branches: [{ id: 'a' }, { id: 'b' }] },
        { id: 'one', type: 'collect-inputs', output: { x: { type: 'number' } } },
        { id: 'two', type: 'collect-inputs', output: { y: { type: 'number' } }, title },
      ],
      edges: [
        { from: 'both', to: 'one', on: 'a' },
        { from: 'both', to: 'two', on: 'b' },
      ],
    })
    const { move } = await waiting(fork('A'), fork('B'), { until: asksTwice })
    expect(told(await move({ asksAgain: true }))).toBe('not_possible BRANCHES_CHANGED')
  })

  test('while it is being cancelled, or performs only a part', async () => {
    const slow = { id: 'undo', type: 'test-effect', url: held.url }
    const drawn: Drawn = { ...path(ask()), onCancel: 'undo' }
    const { runId, move, workflowId, to } = await waiting(
      { ...drawn, steps: [...drawn.steps, slow] },
      { ...drawn, steps: [...drawn.steps, slow, say('x')], edges: [{ from: 'ask', to: 'say' }] },
    )
    const part = await startRun(
      { ...ctx, actor: { kind: 'user', id: 'u', name: 'U', sessionId: 's', role: 'owner' } },
      { workflowId, body: {}, version: '1', part: { to: 'ask' } },
    )
    await runtime.wait(part.runId, isPaused, END)
    expect(told(await moveRuns(ctx, { workflowId, toVersion: to, runIds: [part.runId] }))).toBe('not_possible PART')
    await cancelRun(ctx, { runId })
    expect(told(await move())).toMatch(/^not_possible ENDING/)
  })

  test('while an attempt is under way, and a person is told so', async () => {
    const work = { id: 'work', type: 'test-effect', url: held.url }
    const { move, runId } = await waiting(path(work, ask()), path(work, ask(), say('x')), { until: hasBegun })
    const made = await move()
    expect(told(made)).toBe('not_now BUSY')
    expect(made.refused[0]).toMatchObject({
      reasons: [
        {
          code: 'BUSY',
          stepId: 'work',
          message: 'An attempt of work is under way, or will be repeated.',
          advice: expect.stringContaining('Try again'),
        },
      ],
    })
    held.release()
    await runtime.wait(runId, isPaused, END)
    expect(told(await move())).toBe('safe')
  })

  test('if it has visited a step as often as the version allows', async () => {
    const loop = (maxVisits: number): Drawn => ({
      steps: [ask({ maxVisits }), { id: 'if', type: 'condition', when: '${n} > 5' }],
      edges: [
        { from: 'ask', to: 'if' },
        { from: 'if', to: 'ask', on: 'false' },
      ],
    })
    const { runId, move } = await waiting(loop(5), loop(2))
    expect(told(await move())).toBe('safe')
    await answer(runId)
    await runtime.wait(runId, ({ pauseSignal }) => pauseSignal?.id === 'main:ask#2', END)
    const other = await waiting(loop(5), loop(1))
    expect(told(await other.move())).toBe('not_possible LOOP_SPENT')
  })

  test('to a version that was never published, or by an operator', async () => {
    const { workflowId, runId, publish } = await waiting(path(ask()), path(ask()))
    await publish(path(ask(), say('x')))
    await updateWorkflow(ctx, { id: workflowId, body: path(ask(), say('draft')) as never })
    const [row] = await database.sql<{ version: number }[]>`select version from workflows where id = ${workflowId}`
    const draft = { workflowId, toVersion: row?.version ?? 0, runIds: [runId] }
    await expect(moveRuns(ctx, draft)).rejects.toMatchObject({ code: 'INVALID_INPUT' })
    await expect(moveRuns(await runtime.as('operator'), draft)).rejects.toMatchObject({ code: 'FORBIDDEN' })
  })
})
