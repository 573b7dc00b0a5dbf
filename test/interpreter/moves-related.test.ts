import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ServiceContext, withTransaction } from '@/server/context'
import { moveRuns } from '@/server/runs/moves/move'
import { resumeRun } from '@/server/runs/resume'
import { startRun } from '@/server/runs/start'
import { createWorkflow, publishWorkflow, updateWorkflow } from '@/server/workflows/lifecycle'
import { until } from '../engine/support'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { startTestRuntime, type TestRuntime } from '../support/runtime'
import { ask, type Drawn, END, hasBegun, isPaused, path, say, told } from './moving'

/* Moves of a run that waits for another one, and of that one. */

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

const publish = async (id: string, drawn: Drawn) => {
  await updateWorkflow(ctx, { id, body: drawn as never })
  return (await publishWorkflow(ctx, { id })).version
}
const gives = (type: string) => path({ ...ask(), output: { n: { type } } })
const somebodyWaits = async () => {
  const [row] = await database.sql<{ n: number }[]>`
    select count(*)::int as n from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`
  return (row?.n ?? 0) > 0
}
const answer = (runId: string, data: object) => resumeRun(ctx, { runId, body: { type: 'collect_inputs', data } })

/** A run that waits for another one, which is paused. */
async function family(child: Drawn, parentOf: (call: object) => Drawn) {
  const { id: childFlow } = await createWorkflow(ctx, { name: 'Child', ...child } as never)
  await publishWorkflow(ctx, { id: childFlow })
  const call = { id: 'call', type: 'run-workflow', workflowId: childFlow, saveAs: 'got' }
  const { id: parentFlow } = await createWorkflow(ctx, { name: 'Parent', ...parentOf(call) } as never)
  await publishWorkflow(ctx, { id: parentFlow })
  const { runId: parent } = await startRun(ctx, { workflowId: parentFlow, body: {} })
  await runtime.wait(parent, hasBegun, END)
  const started = () => database.sql<{ id: string }[]>`select id from runs where parent_run_id = ${parent}`
  await until(async () => (await started()).length > 0)
  const [found] = await started()
  await runtime.wait(found?.id ?? '', isPaused, END)
  return { call, childFlow, parentFlow, parent, child: found?.id ?? '' }
}

test('after a move the history says what the other run was started with, and its result goes where the version wants it', async () => {
  const takes = { ...path(ask()), payload: { who: { type: 'string', required: false } } } as Drawn
  const { call, parentFlow, parent, child } = await family(takes, (step) =>
    path({ ...(step as { id: string; type: string }), input: { who: 'old' } }, say('one')),
  )
  const to = await publish(parentFlow, path({ ...call, input: { who: 'new' }, saveAs: 'other' }, say('two ${other.n}')))
  expect(told(await moveRuns(ctx, { workflowId: parentFlow, toVersion: to, runIds: [parent] }))).toBe('safe')
  const [step] = (await runtime.status(parent)).stepExecutionHistory
  expect(step?.inputData).toMatchObject({ input: { who: 'old' }, runId: child })
  await answer(child, { n: 3 })
  const run = await runtime.wait(parent, undefined, END)
  expect(run).toMatchObject({ workflowVersion: to, result: { said: 'two 3', other: { n: 3 } } })
  expect((await runtime.status(child)).data).toMatchObject({ who: 'old' })
})

test.each(['parent', 'child'] as const)(
  'of two runs that are moved at the same moment, each to a version that fits the old one of the other, only one is: first the %s',
  async (which) => {
    const { call, childFlow, parentFlow, parent, child } = await family(gives('any'), (step) =>
      path(step as never, say('any ${got.n}')),
    )
    const moveChild = (c: ServiceContext, toVersion: number) =>
      moveRuns(c, { workflowId: childFlow, toVersion, runIds: [child], asksAgain: true }).then(told)
    const narrow = await publish(childFlow, gives('number'))
    expect(await moveChild(ctx, narrow)).toBe('asks_again')
    const adds = { id: 'say', type: 'set-data', compute: { sum: '${got.n} + 1' } }
    const to = await publish(parentFlow, path(call, adds))
    const text = await publish(childFlow, gives('string'))
    const moves = {
      parent: (c: ServiceContext) =>
        moveRuns(c, { workflowId: parentFlow, toVersion: to, runIds: [parent] }).then(told),
      child: (c: ServiceContext) => moveChild(c, text),
    }
    let later: Promise<string> = Promise.resolve('')
    await withTransaction(ctx, async (tx) => {
      expect(await moves[which](tx)).toBe(which === 'parent' ? 'safe' : 'asks_again')
      later = moves[which === 'parent' ? 'child' : 'parent'](ctx)
      await until(somebodyWaits, 5_000)
    })
    expect(await later).toBe('not_possible CHILD_CHANGED')
    await answer(child, { n: which === 'parent' ? 3 : 'three' })
    expect(await runtime.wait(parent, undefined, END)).toMatchObject({
      outcome: 'succeeded',
      data: which === 'parent' ? { sum: 4 } : { said: 'any three' },
    })
  },
)
