import { afterAll, beforeAll, expect, test } from 'vitest'
import { bindTransport } from '@/server/outbox'
import { resumeRun } from '@/server/runs/resume'
import { startRun } from '@/server/runs/start'
import { findStepType } from '@/server/steps/registry'
import { createWorkflow } from '@/server/workflows/lifecycle'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { currentTransport } from '../support/event-transport'
import { startTestRuntime, type TestRuntime } from '../support/runtime'

// A stopping process loses no attempt of a step that it has not begun.

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

const holder = globalThis as { [key: symbol]: { stop(graceMs: number): Promise<void> } | undefined }
const RUNTIME = Symbol.for('millrace.runtime')

/** Stops this process's runtime as soon as the next job is committed, and starts another. */
async function stoppingAt(work: () => Promise<unknown>): Promise<void> {
  const original = currentTransport()
  let stopped: Promise<void> | undefined
  bindTransport({
    kick: () => original.kick(),
    queue: (event) => {
      const queued = original.queue?.(event)
      if (!queued) return undefined
      const committed = (generation: string | null) => {
        queued.committed(generation)
        stopped ??= holder[RUNTIME]?.stop(60_000)
      }
      return { ...queued, committed }
    },
  })
  await work()
  await stopped
  expect(stopped).toBeDefined()
  delete holder[RUNTIME]
  // Not before the environment is set.
  const { startRuntime } = await import('@/instrumentation-node')
  await startRuntime()
}

const once = (id: string) => ({ id, type: 'test-effect', retry: { maxAttempts: 1 } })

test('a run that starts while its process stops continues in another, and its steps have all their attempts', async () => {
  const steps = [once('a'), once('b'), once('c')]
  const edges = [
    { from: 'a', to: 'b' },
    { from: 'b', to: 'c' },
  ]
  const { id } = await createWorkflow(runtime.ctx, { name: 'Once', steps, edges })
  let runId = ''
  await stoppingAt(async () => {
    runId = (await startRun(runtime.ctx, { workflowId: id, body: {} })).runId
  })
  const run = await runtime.wait(runId)
  expect(run.stepExecutionHistory.map(({ stepId, status, attempt }) => [stepId, status, attempt])).toEqual([
    ['a', 'completed', 1],
    ['b', 'completed', 1],
    ['c', 'completed', 1],
  ])
})

test('so does one that is answered', async () => {
  const ask = { id: 'ask', type: 'request-user-action', actions: [{ id: 'ok', label: 'OK' }] }
  const { id } = await createWorkflow(runtime.ctx, {
    name: 'Answered',
    steps: [ask, once('a'), once('b')],
    edges: [
      { from: 'ask', to: 'a' },
      { from: 'a', to: 'b' },
    ],
  })
  const { runId } = await startRun(runtime.ctx, { workflowId: id, body: {} })
  await runtime.wait(runId, (run) => run.status === 'paused')
  await stoppingAt(() => resumeRun(runtime.ctx, { runId, body: { type: 'request_user_action', actionId: 'ok' } }))
  expect(await runtime.wait(runId)).toMatchObject({ status: 'completed' })
})

test('an answer is stored although the next steps cannot be planned, and the run ends with the reason', async () => {
  const ask = { id: 'ask', type: 'request-user-action', actions: [{ id: 'ok', label: 'OK' }] }
  const { id } = await createWorkflow(runtime.ctx, {
    name: 'Bug',
    steps: [ask, { id: 'end', type: 'end-flow' }],
    edges: [{ from: 'ask', to: 'end' }],
  })
  const { runId } = await startRun(runtime.ctx, { workflowId: id, body: {} })
  await runtime.wait(runId, (run) => run.status === 'paused')
  const end = findStepType('end-flow') as { result: unknown }
  const { result } = end
  end.result = () => {
    throw new TypeError('a bug of ours')
  }
  try {
    const answered = await resumeRun(runtime.ctx, { runId, body: { type: 'request_user_action', actionId: 'ok' } })
    expect(answered).toMatchObject({ success: true, status: 'running' })
  } finally {
    end.result = result
  }
  expect(await runtime.wait(runId)).toMatchObject({ status: 'completed' })
})
