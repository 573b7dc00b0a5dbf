import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { startTestRuntime, type TestRuntime } from '../support/runtime'
import { bothWays } from './gap'

let database: FreshDatabase
let runtime: TestRuntime
beforeAll(async () => {
  database = await freshDatabase()
  runtime = await startTestRuntime(database.url)
})
afterAll(async () => {
  await runtime.stop()
  await database.close()
})

const ask = { id: 'ask', type: 'request-user-action', actions: [{ id: 'go', label: 'Go' }] }
const note = { id: 'note', type: 'set-data', values: { told: '${error.stepId}: ${error.code}' } }
const refuse = { id: 'no', type: 'fail-flow', code: 'NO_STOCK', message: 'None left' }
const broken = { id: 'bad', type: 'run-script', code: 'throw new Error("it broke")', retry: { maxAttempts: 1 } }
const steps = ({ stepExecutionHistory }: { stepExecutionHistory: { stepId: string; status: string }[] }) =>
  stepExecutionHistory.map(({ stepId, status }) => `${stepId} ${status}`)

async function answer(runId: string, more: object = {}) {
  const { resumeRun } = await import('@/server/runs/resume')
  await resumeRun(runtime.ctx, { runId, body: { type: 'request_user_action', actionId: 'go', ...more } })
}

describe('a run that fails takes its failure path, and then fails as it would have', () => {
  test.each([
    ['because of a step’s failure', broken, 'EXECUTION_ERROR'],
    ['at a step that ends it', refuse, 'NO_STOCK'],
    ['because a step is not valid', { id: 'bad', type: 'delay', for: '${never}' }, 'INVALID_CONFIG'],
  ])('%s', async (_why, step, code) => {
    await bothWays(async () => {
      const definition = { payload: { never: { type: 'string' } }, steps: [step, note], onFailure: 'note' }
      const run = await runtime.wait(await runtime.start(definition, { never: 'soon' }))
      expect(run).toMatchObject({ status: 'failed', outcome: 'failed', result: null, currentStepId: step.id })
      expect(run.error).toMatchObject({ code, stepId: step.id })
      expect(run.data).toMatchObject({ told: `${step.id}: ${code}`, error: { code } })
      expect(steps(run)).toEqual([`${step.id} failed`, 'note completed'])
      expect(run.stepExecutionHistory[0]).not.toHaveProperty('handled')
    })
  })

  test('because nobody answered in time, with that outcome', async () => {
    await bothWays(async () => {
      const definition = { steps: [{ ...ask, expiresIn: 'PT0.2S' }, note], onFailure: 'note' }
      const run = await runtime.wait(await runtime.start(definition))
      expect(run).toMatchObject({
        outcome: 'timed_out',
        error: { code: 'TIMED_OUT' },
        data: { told: 'ask: TIMED_OUT' },
      })
    })
  })

  test.each([
    ['a step of a branch fails', broken, 'EXECUTION_ERROR'],
    ['a branch ends the run', refuse, 'NO_STOCK'],
  ])('because %s; the other branches are stopped first', async (_why, step, code) => {
    await bothWays(async () => {
      const gate = { ...ask, id: 'gate' }
      const runId = await runtime.start({
        steps: [{ id: 'both', type: 'parallel', branches: [{ id: 'a' }, { id: 'b' }] }, ask, gate, step, note],
        edges: [
          { from: 'both', to: 'ask', on: 'a' },
          { from: 'both', to: 'gate', on: 'b' },
          { from: 'gate', to: step.id },
        ],
        onFailure: 'note',
      })
      await runtime.wait(runId, ({ pauseSignals }) => pauseSignals.length === 2)
      await answer(runId, { stepId: 'gate' })
      const run = await runtime.wait(runId)
      expect(run).toMatchObject({ status: 'failed', error: { code, stepId: step.id } })
      expect(run.data).toMatchObject({ told: `${step.id}: ${code}` })
      expect(run.stepExecutionHistory.find(({ stepId }) => stepId === 'ask')).toMatchObject({ errorCode: 'STOPPED' })
    })
  })

  test('even if that path fails too, or comes to an end step', async () => {
    for (const last of [refuse, { id: 'end', type: 'end-flow', output: { fine: true } }]) {
      const edges = [{ from: 'note', to: last.id }]
      const run = await runtime.wait(await runtime.start({ steps: [broken, note, last], edges, onFailure: 'note' }))
      expect(run).toMatchObject({ status: 'failed', result: null, error: { code: 'EXECUTION_ERROR', stepId: 'bad' } })
      expect(steps(run)).toHaveLength(3)
    }
  })

  test('but not if an edge catches the failure, or it is terminated', async () => {
    const { terminateRun } = await import('@/server/runs/terminate')
    const caught = { steps: [broken, { ...note, id: 'b' }, note], edges: [{ from: 'bad', to: 'b', on: 'error' }] }
    const run = await runtime.wait(await runtime.start({ ...caught, onFailure: 'note' }))
    expect([run.status, ...steps(run)]).toEqual(['completed', 'bad failed', 'b completed'])
    const runId = await runtime.start({ steps: [ask, note], onFailure: 'note' })
    await runtime.wait(runId, ({ status }) => status === 'paused')
    await terminateRun(runtime.ctx, { runId })
    expect(await runtime.wait(runId)).toMatchObject({ outcome: 'terminated', data: {} })
  })

  test('unless it is cancelled on that path, which its cleanup follows', async () => {
    const { cancelRun } = await import('@/server/runs/cancel')
    const again = { id: 'again', type: 'test-effect', url: 'http://127.0.0.1:1/', retry: { initialDelayMs: 60_000 } }
    const undo = { id: 'undo', type: 'set-data', values: { undone: true } }
    const runId = await runtime.start({ steps: [broken, again, undo], onFailure: 'again', onCancel: 'undo' })
    await runtime.wait(runId, ({ currentStepId }) => currentStepId === 'again')
    await cancelRun(runtime.ctx, { runId })
    expect(await runtime.wait(runId)).toMatchObject({ outcome: 'cancelled', data: { undone: true } })
  })
})

test('a retry continues at the step that failed, with nothing of the failure path', async () => {
  const { retryRun } = await import('@/server/runs/retry')
  const first = { id: 'first', type: 'set-data', values: { kept: 1 } }
  const edges = [
    { from: 'first', to: 'ask' },
    { from: 'ask', to: 'bad' },
  ]
  const failed = await runtime.start({ steps: [first, ask, broken, note], edges, onFailure: 'note' })
  await runtime.wait(failed, ({ status }) => status === 'paused')
  await answer(failed)
  await runtime.wait(failed)
  const { runId } = await retryRun(runtime.ctx, { runId: failed })
  const run = await runtime.wait(runId)
  expect(steps(run)).toEqual(['first completed', 'ask completed', 'bad failed', 'note completed'])
  expect(run.data).toMatchObject({ kept: 1, told: 'bad: EXECUTION_ERROR' })
})

test('a failure path must exist, and no step of it may wait or run branches', async () => {
  const { checkGraph } = await import('@/server/workflows/check/graph')
  const fork = { id: 'both', type: 'parallel', branches: [{ id: 'a' }, { id: 'b' }] }
  const definition = {
    name: 'n',
    description: '',
    initialStep: 'note',
    payload: {},
    steps: [note, ask, fork],
    edges: [],
  }
  const codes = (onFailure: string) =>
    checkGraph({ ...definition, onFailure }).flatMap(({ code, severity }) => (severity === 'error' ? [code] : []))
  expect(codes('gone')).toEqual(['UNKNOWN_ON_FAILURE'])
  expect(codes('ask')).toEqual(['PAUSE_IN_CLEANUP'])
  expect(codes('both')).toEqual(['FORK_IN_CLEANUP'])
})
