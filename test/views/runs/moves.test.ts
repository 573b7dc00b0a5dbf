import { afterAll, beforeAll, expect, test } from 'vitest'
import { moveBack } from '@/server/runs/moves/move-back'
import { resumeRun } from '@/server/runs/resume'
import { setVaultSecret } from '@/server/vault/set'
import { getRunOverview } from '@/server/views/runs/overview'
import { readTimeline } from '@/server/views/runs/timeline'
import { getTask } from '@/server/views/tasks/get'
import { listTasks } from '@/server/views/tasks/list'
import { ask, type Drawn, END, isPaused, path, say, waiting } from '../../interpreter/moving'
import { type FreshDatabase, freshDatabase } from '../../support/db'
import { startTestRuntime, type TestRuntime } from '../../support/runtime'

let database: FreshDatabase
let runtime: TestRuntime
beforeAll(async () => {
  database = await freshDatabase()
  runtime = await startTestRuntime(database.url, { ENCRYPTION_KEY: 'ab'.repeat(32) })
})
afterAll(async () => {
  await runtime?.stop()
  await database?.close()
})

const gate = {
  id: 'gate',
  type: 'request-user-action',
  actions: [
    { id: 'go', label: 'Go on' },
    { id: 'no', label: 'Stop' },
  ],
}
const gated = (to: string): Drawn => ({
  steps: [gate, ask({ name: 'Ask' }), say('one')],
  initialStep: 'gate',
  edges: [
    { from: 'gate', to, on: 'go' },
    { from: 'gate', to: 'say', on: 'no' },
    { from: 'ask', to: 'say' },
  ],
})
const reads = async (runId: string) => {
  const { moves, turns } = await getRunOverview(runtime.ctx, { runId })
  const { labels, steps } = await readTimeline(runtime.ctx, { runId })
  return { moves, turns, labels, steps: steps.map(([id]) => id) }
}

test('a moved run shows its moves, and its earlier part as its earlier version had it, also of steps that are gone', async () => {
  const { ctx } = runtime
  const { workflowId, runId, move } = await waiting(runtime, gated('ask'), {
    ...path(ask({ name: 'Ask', title: 'New' }), say('two')),
  })
  await resumeRun(ctx, { runId, body: { type: 'request_user_action', actionId: 'go' } })
  await runtime.wait(runId, ({ pauseSignal }) => pauseSignal?.id === 'main:ask#1', END)
  await setVaultSecret(ctx, { name: 'WORD', value: 'swordfish_8472' })
  const { batch, moved } = await move({ asksAgain: true, reason: 'It says swordfish_8472.' })
  expect(moved).toEqual([{ runId, verdict: 'asks_again' }])
  const once = await reads(runId)
  expect(once).toMatchObject({
    moves: [{ from: 1, to: 2, askedAgain: ['Ask'], waitsAgain: [], droppedVotes: 0, reason: 'It says ***.' }],
    turns: [{ stepId: 'gate', label: 'Go on', toName: 'Ask' }],
    labels: { gate: { go: 'Go on' } },
    steps: ['gate', 'ask'],
  })
  await moveBack(ctx, { workflowId, batch })
  expect((await reads(runId)).moves.map(({ from, to }) => [from, to])).toEqual([
    [1, 2],
    [2, 1],
  ])
})

test('a step that leads elsewhere now is said to have led where it did', async () => {
  const { runId, move } = await waiting(runtime, gated('ask'), {
    ...gated('say'),
    edges: [...gated('say').edges.slice(0, 2), { from: 'say', to: 'ask' }],
  })
  await resumeRun(runtime.ctx, { runId, body: { type: 'request_user_action', actionId: 'go' } })
  await runtime.wait(runId, ({ pauseSignal }) => pauseSignal?.id === 'main:ask#1', END)
  expect((await move()).moved).toEqual([{ runId, verdict: 'safe' }])
  expect((await reads(runId)).turns).toMatchObject([{ stepId: 'gate', toName: 'Ask' }])
})

test('a task says since which version it asks something else, and what, until it is answered', async () => {
  const { ctx } = runtime
  const { workflowId, runId, move } = await waiting(
    runtime,
    path(ask(), say('one')),
    path(ask({ title: 'B' }), say('two')),
  )
  const since = async () => {
    const listed = await Promise.all((['open', 'done'] as const).map((view) => listTasks(ctx, { view, workflowId })))
    const [task] = listed.flatMap(({ tasks }) => tasks)
    const { askedAgain } = await getTask(ctx, { runId, pauseId: 'main:ask#1' })
    return [task?.askedAgainSince, askedAgain && [askedAgain.version, ...askedAgain.what]]
  }
  expect(await since()).toEqual([null, null])
  const { batch } = await move({ asksAgain: true })
  expect(await since()).toEqual([2, [2, 'title']])
  await moveBack(ctx, { workflowId, batch })
  expect(await since()).toEqual([1, [1, 'title']])
  await resumeRun(ctx, { runId, body: { type: 'collect_inputs', data: { n: 1 } } })
  await runtime.wait(runId, (run) => !isPaused(run) || run.endTime !== undefined, END)
  expect(await since()).toEqual([null, null])
})

test('a task that asks the same in the other version was not asked again', async () => {
  const { runId, move } = await waiting(runtime, path(ask(), say('one')), path(ask(), say('two')))
  await move()
  expect(await getTask(runtime.ctx, { runId, pauseId: 'main:ask#1' })).toMatchObject({ askedAgain: null })
})
