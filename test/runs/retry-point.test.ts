import { afterAll, beforeAll, expect, test } from 'vitest'
import { plainText, storyOf } from '@/app/(dashboard)/[tenant]/runs/[runId]/story'
import { resumeRun } from '@/server/runs/resume'
import { retryRun } from '@/server/runs/retry'
import { runBulk } from '@/server/views/runs/bulk'
import { getRunOverview } from '@/server/views/runs/overview'
import { readStep } from '@/server/views/runs/step-detail'
import { readTimeline } from '@/server/views/runs/timeline'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { type EffectServer, startEffects } from '../support/effects'
import { startTestRuntime, type TestRuntime } from '../support/runtime'

let database: FreshDatabase
let effects: EffectServer
let runtime: TestRuntime
let healthy = false

beforeAll(async () => {
  database = await freshDatabase()
  effects = await startEffects(({ path }) => {
    if (path === '/charge') return healthy ? { body: { paid: true } } : { status: 400 }
    return { body: { first: 'done' } }
  })
  runtime = await startTestRuntime(database.url)
})
afterAll(async () => {
  await runtime?.stop()
  await effects?.stop()
  await database?.close()
})

const effect = (id: string, more: object = {}) => ({ id, type: 'test-effect', url: `${effects.url}${id}`, ...more })
const refuse = { id: 'refuse', type: 'fail-flow', name: 'Give up', code: 'NOT_PAID', message: 'It was not paid' }
const edge = (from: string, to: string, on?: string) => ({ from, to, ...(on ? { on } : {}) })
const overview = (runId: string) => getRunOverview(runtime.ctx, { runId })
const story = async (runId: string) => plainText(storyOf(await overview(runId)))

async function failed(definition: object, data = {}): Promise<string> {
  healthy = false
  const runId = await runtime.start(definition, data)
  const { status } = await runtime.wait(runId, ({ status }) => status !== 'running')
  if (status === 'paused') {
    const { answerDue } = await import('@/server/interpreter/wait/due')
    await answerDue({ db: runtime.db, log: runtime.ctx.log, now: () => new Date(Date.now() + 3 * 3600_000) })
  }
  expect(await runtime.wait(runId)).toMatchObject({ status: 'failed', error: { code: 'NOT_PAID' } })
  healthy = true
  return runId
}

test('a run that a step’s error exit led to fail is retried at that step, also if other steps lie between', async () => {
  for (const between of [[], [effect('tell'), { id: 'note', type: 'set-data', values: { told: true } }]]) {
    const names = ['first', 'charge', ...between.map(({ id }) => id), 'refuse']
    const runId = await failed({
      steps: [effect('first'), effect('charge', { name: 'Charge' }), effect('ship'), ...between, refuse],
      edges: [
        ...[edge('first', 'charge'), edge('charge', 'ship')],
        ...names.slice(2).map((to, at) => edge(names[at + 1] ?? '', to, at === 0 ? 'error' : undefined)),
      ],
    })
    expect(await overview(runId)).toMatchObject({ retry: { stepId: 'charge', stepName: 'Charge', same: false } })
    expect(await story(runId)).toContain(' A retry would keep one step before Charge.')
    const { runId: again } = await retryRun(runtime.ctx, { runId })
    const run = await runtime.wait(again)
    expect(run).toMatchObject({ status: 'completed', data: { first: 'done', paid: true } })
    expect(run.data).not.toHaveProperty('error')
    expect(run.stepExecutionHistory.map(({ stepId }) => stepId)).toEqual(['first', 'charge', 'ship'])
  }
})

test('a run that failed after its first step failed has run two steps, and is retried at the first', async () => {
  const runId = await failed({
    steps: [effect('charge', { name: 'Charge' }), refuse],
    edges: [edge('charge', 'refuse', 'error')],
  })
  const told = await story(runId)
  expect(told).toMatch(
    /^Charge failed: “.*”, so the run took its error exit to Give up\. It failed after .*\. A retry would begin at Charge\.$/,
  )
  expect(told).not.toContain('nothing else ran')
})

test('a run that failed because nobody answered in time is retried with the question', async () => {
  const runId = await failed({
    steps: [{ id: 'ask', type: 'collect-inputs', expiresIn: 'PT2H', output: { n: { type: 'number' } } }, refuse],
    edges: [edge('ask', 'refuse', 'timeout')],
  })
  const { runId: again } = await retryRun(runtime.ctx, { runId })
  const run = await runtime.wait(again, ({ status }) => status === 'paused')
  const body = { type: 'collect_inputs', pauseId: run.pauseSignal?.id, data: { n: 3 } }
  await resumeRun(runtime.ctx, { runId: again, body })
  expect(await runtime.wait(again)).toMatchObject({ status: 'completed', data: { n: 3 } })
})

test('no retry is offered, nor done in bulk, where it would only end in the same way', async () => {
  const decided = {
    name: 'Decided',
    payload: { amount: { type: 'number' } },
    steps: [{ id: 'small', type: 'condition', when: '${amount} < 10' }, refuse],
    edges: [edge('small', 'refuse', 'false')],
  }
  // The failure was mended: the run failed later, on its usual path.
  const mended = {
    ...decided,
    steps: [
      effect('charge'),
      { id: 'free', type: 'set-data', values: { paid: false } },
      effect('ship'),
      ...decided.steps,
    ],
    edges: [
      ...[edge('charge', 'ship'), edge('charge', 'free', 'error'), edge('free', 'ship'), edge('ship', 'small')],
      ...decided.edges,
    ],
  }
  for (const definition of [decided, mended]) {
    const runId = await failed(definition, { amount: 20 })
    const { retry, workflowId } = await overview(runId)
    expect(retry).toMatchObject({ stepId: 'refuse', same: true })
    expect(await story(runId)).not.toContain('retry')
    const { steps, rows } = await readTimeline(runtime.ctx, { runId })
    const offered = rows.map(async ([seq, step]) => {
      const { startsAgain } = await readStep(runtime.ctx, { runId, seq })
      return startsAgain ? [] : [steps[step]?.[0]]
    })
    expect((await Promise.all(offered)).flat()).toEqual(['refuse'])
    const filter = { workflowIds: [workflowId] }
    const bulk = { verb: 'retry', filter, at: new Date(Date.now() + 1_000).toISOString() } as const
    expect(await runBulk(runtime.ctx, bulk)).toMatchObject({
      done: 0,
      refused: [{ runId, code: 'CONFLICT', message: 'A retry would end in the same way' }],
    })
    // The API still does what it is asked to.
    const { runId: again } = await retryRun(runtime.ctx, { runId })
    expect(await runtime.wait(again)).toMatchObject({ error: { code: 'NOT_PAID' } })
  }
})
