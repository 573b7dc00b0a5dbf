import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { type EffectAnswer, type EffectServer, startEffects } from '../support/effects'
import { rounds } from '../support/rounds'
import { startTestRuntime, type TestRuntime } from '../support/runtime'
import { newScriptTool } from '../support/tenant'

let database: FreshDatabase
let runtime: TestRuntime
let effects: EffectServer | undefined
beforeAll(async () => {
  database = await freshDatabase({ max: 20 })
  runtime = await startTestRuntime(database.url)
})
afterEach(() => effects?.stop())
afterAll(async () => {
  await runtime.stop()
  await database.close()
})

const quick = { initialDelayMs: 100, backoff: 'fixed' }
async function oneStep(answer: (times: number) => EffectAnswer, config: object = {}) {
  effects = await startEffects((_effect, times) => answer(times))
  const runId = await runtime.start({ steps: [{ id: 'work', type: 'test-effect', url: effects.url, ...config }] })
  return runtime.wait(runId, undefined, 30_000)
}

describe('a step', () => {
  test('that fails temporarily is retried with the same idempotency key, in one record', async () => {
    const run = await oneStep((times) => (times < 3 ? { status: 503 } : { body: { done: true } }), { retry: quick })
    expect(run).toMatchObject({ status: 'completed', outcome: 'succeeded', data: { done: true } })
    expect(effects?.seen.map(({ key }) => key)).toEqual(Array(3).fill(`${run.runId}:main:work:1`))
    expect(run.stepExecutionHistory).toHaveLength(1)
    const [record] = run.stepExecutionHistory
    expect(record).toMatchObject({ status: 'completed', attempt: 3, outputData: { done: true } })
    expect(record?.attempts).toMatchObject([
      { attempt: 1, error: 'the effect server answered 503' },
      { attempt: 2 },
      { attempt: 3 },
    ])
  })

  test('that keeps failing ends the run, with its message on the record', async () => {
    const run = await oneStep(() => ({ status: 500 }), { retry: { ...quick, maxAttempts: 2 } })
    expect(run).toMatchObject({ status: 'failed', outcome: 'failed', result: null, currentStepId: 'work' })
    expect(run.error).toEqual({ code: 'TRANSIENT', message: 'the effect server answered 500', stepId: 'work' })
    expect(run.stepExecutionHistory).toMatchObject([
      { stepId: 'work', status: 'failed', error: 'the effect server answered 500', attempt: 2 },
    ])
    expect(effects?.seen).toHaveLength(2)
  })

  test('that fails permanently is not retried, and nothing after it runs', async () => {
    effects = await startEffects(() => ({ status: 422 }))
    const runId = await runtime.start({
      steps: [
        { id: 'bad', type: 'test-effect', url: effects.url },
        { id: 'after', type: 'test-effect', url: effects.url },
      ],
      edges: [{ from: 'bad', to: 'after' }],
    })
    const run = await runtime.wait(runId)
    expect(run).toMatchObject({ status: 'failed', error: { code: 'HTTP_ERROR', stepId: 'bad' } })
    expect(run.stepExecutionHistory.map((step) => step.stepId)).toEqual(['bad'])
    expect(effects.seen).toHaveLength(1)
  })

  test('that takes too long is stopped and retried like after any temporary failure', async () => {
    const run = await oneStep((times) => (times === 1 ? { delayMs: 60_000 } : {}), { timeoutMs: 2_500, retry: quick })
    expect(run).toMatchObject({ status: 'completed' })
    expect(run.stepExecutionHistory[0]?.attempts).toMatchObject([
      { error: 'The step did not finish within 2500 ms.' },
      { attempt: 2 },
    ])
  })

  test('whose input has no value fails and says which, instead of running without it', async () => {
    const tool = await newScriptTool(runtime.ctx, 'return { total: 1 }')
    effects = await startEffects()
    const runId = await runtime.start({
      steps: [
        { id: 'sum', type: 'call-tool', toolId: tool },
        { id: 'use', type: 'test-effect', url: effects.url, body: { x: '${totals}' } },
      ],
      edges: [{ from: 'sum', to: 'use' }],
    })
    const run = await runtime.wait(runId)
    expect(run).toMatchObject({
      status: 'failed',
      error: { code: 'EXPRESSION_UNRESOLVED', stepId: 'use', message: '${totals} has no value' },
    })
    expect(run.stepExecutionHistory).toMatchObject([
      { status: 'completed' },
      { stepId: 'use', status: 'failed', error: '${totals} has no value' },
    ])
    expect(effects.seen).toEqual([])
  })

  test('stores a result that is not an object under its name, and is accessible by id when no field has that name', async () => {
    const number = await newScriptTool(runtime.ctx, 'return args.a * 2')
    const object = await newScriptTool(runtime.ctx, 'return { value: args.a + 1 }')
    const runId = await runtime.start(
      {
        payload: { a: { type: 'number' } },
        steps: [
          { id: 'double', type: 'call-tool', toolId: number, args: { a: '${a}' } },
          { id: 'named', type: 'call-tool', toolId: object, args: { a: '${double}' }, saveAs: 'next' },
          { id: 'end', type: 'end-flow', output: { byName: '${next.value}', byStep: '${named.value}', all: '${_}' } },
        ],
        edges: [
          { from: 'double', to: 'named' },
          { from: 'named', to: 'end' },
        ],
      },
      { a: 4 },
    )
    const run = await runtime.wait(runId)
    const data = { a: 4, double: 8, next: { value: 9 } }
    expect(run).toMatchObject({ status: 'completed', data })
    expect(run.result).toEqual({ byName: 9, byStep: 9, all: data })
    expect(run.stepExecutionHistory.map((step) => step.outputData)).toEqual([{ double: 8 }, { value: 9 }, run.result])
    for (const step of run.stepExecutionHistory) expect(step.duration).toBeGreaterThanOrEqual(0)
  })

  test('finds null in a field that is null, also when the run data is read back', async () => {
    const nothing = await newScriptTool(runtime.ctx, 'return null')
    const read = (id: string) => ({ id, type: 'set-data', values: { [id]: ['${find}', '${none}', 'x${none}'] } })
    const runId = await runtime.start(
      {
        payload: { none: { type: 'any' } },
        steps: [
          { id: 'find', type: 'call-tool', toolId: nothing },
          read('a'),
          { id: 'wait', type: 'delay', for: 'PT0.05S' },
          read('b'),
          { id: 'is', type: 'condition', when: '${none} == null' },
        ],
        edges: [
          { from: 'find', to: 'a' },
          { from: 'a', to: 'wait' },
          { from: 'wait', to: 'b' },
          { from: 'b', to: 'is' },
        ],
      },
      { none: null },
    )
    const run = await runtime.wait(runId)
    const found = [null, null, 'x']
    expect(run).toMatchObject({ status: 'completed', data: { find: null, a: found, b: found } })
    expect(run.stepExecutionHistory.at(-1)).toMatchObject({ stepId: 'is', exit: 'true' })
  })

  test('has output that cannot be stored cleaned, so that the run never gets stuck', async () => {
    const tool = await newScriptTool(runtime.ctx, "return { nul: 'a\\u0000b', lone: '\\ud800', deep: 1 }")
    const run = await runtime.wait(await runtime.start({ steps: [{ id: 'odd', type: 'call-tool', toolId: tool }] }))
    expect(run).toMatchObject({ status: 'completed', data: { nul: 'a\uFFFDb', lone: '\uFFFD' } })
  })
})

describe('a walk', () => {
  test('of more steps than fit one segment is handed over and visits each step once', async () => {
    effects = await startEffects()
    // A segment holds 200, so this is one hand-over; SOAK makes it five.
    const ids = Array.from({ length: rounds(210, 1_010) }, (_, i) => `s${i}`)
    const runId = await runtime.start({
      steps: ids.map((id) => ({ id, type: 'test-effect', url: effects?.url, body: { id } })),
      edges: ids.slice(1).map((id, i) => ({ from: ids[i], to: id })),
    })
    const run = await runtime.wait(runId, undefined, 60_000)
    expect(run.status).toBe('completed')
    expect(effects.seen.map(({ body }) => body.id)).toEqual(ids)
    expect(run.stepExecutionHistory.map((step) => [step.stepId, step.attempt])).toEqual(ids.map((id) => [id, 1]))
  })

  test('keeps the version it started with while the workflow is published again', async () => {
    const { createWorkflow, publishWorkflow } = await import('@/server/workflows/lifecycle')
    const { startRun } = await import('@/server/runs/start')
    const { resumeRun } = await import('@/server/runs/resume')
    const workflow = await createWorkflow(runtime.ctx, {
      name: 'v1',
      steps: [
        { id: 'ask', type: 'collect-inputs', output: { x: { type: 'string' } } },
        { id: 'end', type: 'end-flow', output: { version: 'one' } },
      ],
      edges: [{ from: 'ask', to: 'end' }],
    })
    await publishWorkflow(runtime.ctx, { id: workflow.id })
    const { runId, workflowVersion } = await startRun(runtime.ctx, { workflowId: workflow.id, body: {} })
    expect(workflowVersion).toBe(1)
    await runtime.wait(runId, (run) => run.status === 'paused')
    await resumeRun(runtime.ctx, { runId, body: { type: 'collect_inputs', data: { x: 'y' } } })
    expect(await runtime.wait(runId)).toMatchObject({ workflowVersion: 1, result: { version: 'one' } })
  })
})
