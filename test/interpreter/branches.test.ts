import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { publishWorkflow } from '@/server/workflows/lifecycle'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { type EffectServer, startEffects } from '../support/effects'
import { startTestRuntime, type TestRuntime } from '../support/runtime'
import { bothWays } from './gap'

let database: FreshDatabase
let effects: EffectServer
let runtime: TestRuntime
beforeAll(async () => {
  database = await freshDatabase()
  effects = await startEffects((effect) => {
    const { status } = effect.body as { status?: number }
    return status === undefined ? { body: effect.body as object } : { status }
  })
  runtime = await startTestRuntime(database.url)
})
afterAll(async () => {
  await runtime.stop()
  await effects.stop()
  await database.close()
})

type Edge = { from: string; to: string; on?: string }
const edge = (from: string, to: string, on?: string): Edge => ({ from, to, ...(on === undefined ? {} : { on }) })
const set = (id: string, values: object = { at: id }) => ({ id, type: 'set-data', values })
const effect = (id: string, body: object = {}, more: object = {}) => ({
  ...{ id, type: 'test-effect', url: effects.url, body },
  ...{ retry: { maxAttempts: 2, initialDelayMs: 20, backoff: 'fixed' } },
  ...more,
})
const path = (run: { stepExecutionHistory: { stepId: string; visit: number }[] }) =>
  run.stepExecutionHistory.map(({ stepId, visit }) => `${stepId}#${visit}`).join(' ')

/** Both drivers of the engine: its own, and the SDK's protocol. */

describe('a branch', () => {
  const routed = {
    payload: { country: { type: 'string' } },
    steps: [
      {
        id: 'route',
        type: 'switch',
        cases: [
          { id: 'eu', when: '${country} in ["DE", "FR"]' },
          { id: 'us', when: '${country} == "US"' },
        ],
      },
      set('europe'),
      set('america'),
      set('elsewhere'),
    ],
    edges: [edge('route', 'europe', 'eu'), edge('route', 'america', 'us'), edge('route', 'elsewhere', 'default')],
  }

  test('is taken by its expression, and history shows which', async () => {
    await bothWays(async () => {
      for (const [country, at, exit] of [
        ['FR', 'europe', 'eu'],
        ['US', 'america', 'us'],
        ['JP', 'elsewhere', 'default'],
      ]) {
        const run = await runtime.wait(await runtime.start(routed, { country }))
        expect(run).toMatchObject({ status: 'completed', data: { country, at } })
        expect(run.stepExecutionHistory).toMatchObject([{ stepId: 'route', exit }, { stepId: at }])
        expect(run.stepExecutionHistory[1]).not.toHaveProperty('exit')
      }
    })
  })

  test('without an edge ends the path', async () => {
    const definition = {
      steps: [{ id: 'if', type: 'condition', when: 'false' }, set('never')],
      edges: [edge('if', 'never', 'true')],
    }
    const run = await runtime.wait(await runtime.start(definition))
    expect(run).toMatchObject({ status: 'completed', outcome: 'succeeded', data: {} })
    expect(path(run)).toBe('if#1')
  })

  test('of a decision follows the action chosen, and next where the action has no edge', async () => {
    const definition = {
      steps: [
        { id: 'ok', type: 'request-user-action', actions: ['yes', 'no', 'later'].map((id) => ({ id, label: id })) },
        set('approved'),
        set('other'),
      ],
      edges: [edge('ok', 'approved', 'yes'), edge('ok', 'other')],
    }
    const { resumeRun } = await import('@/server/runs/resume')
    await bothWays(async () => {
      for (const [actionId, at] of [
        ['yes', 'approved'],
        ['no', 'other'],
      ] as const) {
        const runId = await runtime.start(definition)
        await runtime.wait(runId, ({ status }) => status === 'paused')
        await resumeRun(runtime.ctx, { runId, body: { type: 'request_user_action', actionId, actionValue: 'v' } })
        const run = await runtime.wait(runId)
        expect(run).toMatchObject({ status: 'completed', data: { at } })
        expect(run.stepExecutionHistory[0]?.exit).toBe(actionId === 'yes' ? 'yes' : undefined)
      }
    })
  })

  test('fail-flow ends the run with the author’s error', async () => {
    const definition = {
      steps: [set('a', { sku: 'chair' }), { id: 'no', type: 'fail-flow', code: 'OUT_OF_STOCK', message: 'No ${sku}' }],
      edges: [edge('a', 'no')],
    }
    const run = await runtime.wait(await runtime.start(definition))
    expect(run).toMatchObject({
      status: 'failed',
      outcome: 'failed',
      error: { code: 'OUT_OF_STOCK', message: 'No chair', stepId: 'no' },
    })
  })
})

describe('a failure', () => {
  const caught = (step: object & { id: string }) => ({
    steps: [step, set('after', { at: 'after' }), set('mended', { why: '${error.code} at ${error.stepId}' })],
    edges: [edge(step.id, 'after'), edge(step.id, 'mended', 'error')],
  })

  test('takes the error exit after its last attempt, and says so', async () => {
    await bothWays(async () => {
      const before = effects.seen.length
      const run = await runtime.wait(await runtime.start(caught(effect('pay', { status: 503 }))))
      expect(run).toMatchObject({ status: 'completed', outcome: 'succeeded', data: { why: 'TRANSIENT at pay' } })
      expect(run.data).toMatchObject({ error: { code: 'TRANSIENT', stepId: 'pay' } })
      expect(run.stepExecutionHistory).toMatchObject([
        { stepId: 'pay', status: 'failed', handled: true, exit: 'error', attempt: 2, errorCode: 'TRANSIENT' },
        { stepId: 'mended', status: 'completed' },
      ])
      expect(effects.seen.length - before).toBe(2)
    })
  })

  test('is caught too when it is permanent, or comes before the step begins', async () => {
    const permanent = await runtime.wait(await runtime.start(caught(effect('pay', { status: 422 }))))
    expect(permanent.data).toMatchObject({ why: 'HTTP_ERROR at pay' })
    const before = effects.seen.length
    const optional = { payload: { amount: { type: 'number', required: false } } }
    const unresolved = { ...optional, ...caught(effect('pay', { n: '${amount}' })) }
    const early = await runtime.wait(await runtime.start(unresolved))
    expect(early.data).toMatchObject({ why: 'EXPRESSION_UNRESOLVED at pay' })
    expect(early.stepExecutionHistory[0]).toMatchObject({ status: 'failed', handled: true })
    expect(effects.seen.length).toBe(before)
  })

  test('of an expression is caught, and without an error exit fails the run', async () => {
    const bad = { id: 'if', type: 'set-data', compute: { x: '1 / 0' } }
    expect((await runtime.wait(await runtime.start(caught(bad)))).data).toMatchObject({
      why: 'EXPRESSION_FAILED at if',
    })
    const alone = await runtime.wait(await runtime.start({ steps: [bad] }))
    expect(alone).toMatchObject({ status: 'failed', error: { code: 'EXPRESSION_FAILED', stepId: 'if' } })
  })

  test('that was handled is kept by a retry of a later step', async () => {
    const { retryRun } = await import('@/server/runs/retry')
    let broken = true
    const flaky = await startEffects((seen) => {
      const { step } = seen.body as { step: string }
      if (step === 'pay') return { status: 422 }
      return broken ? { status: 422 } : { body: { repaired: true } }
    })
    const at = (id: string) => ({ ...effect(id, { step: id }), url: flaky.url })
    const runId = await runtime.start({ steps: [at('pay'), at('mend')], edges: [edge('pay', 'mend', 'error')] })
    expect(await runtime.wait(runId)).toMatchObject({ status: 'failed', error: { stepId: 'mend' } })
    broken = false
    const retried = await retryRun(runtime.ctx, { runId })
    const run = await runtime.wait(retried.runId)
    expect(run).toMatchObject({ status: 'completed', data: { repaired: true, error: { stepId: 'pay' } } })
    expect(flaky.seen.map(({ body }) => (body as { step: string }).step)).toEqual(['pay', 'mend', 'mend'])
    await flaky.stop()
  })
})

test('saving a definition from before branches changes no path of it', async () => {
  const { createWorkflow, updateWorkflow } = await import('@/server/workflows/lifecycle')
  const { startRun } = await import('@/server/runs/start')
  const { id } = await createWorkflow(runtime.ctx, {
    name: 'Old',
    steps: [set('a'), set('b'), set('refund')],
    edges: [edge('a', 'b'), { from: 'b', to: 'refund', type: 'error' }],
  })
  await database.sql`update workflow_versions set language = null where workflow_id = ${id}`
  await updateWorkflow(runtime.ctx, { id, body: { name: 'Renamed' } })
  const { runId } = await startRun(runtime.ctx, { workflowId: id, body: {} as never })
  expect(path(await runtime.wait(runId))).toBe('a#1 b#1')
})

test('an edge with `on` in a version from before branches leads where it always did', async () => {
  const definition = { steps: [set('a'), set('b')], edges: [edge('a', 'b')] }
  const { createWorkflow } = await import('@/server/workflows/lifecycle')
  const { startRun } = await import('@/server/runs/start')
  const { id } = await createWorkflow(runtime.ctx, { name: 'Old', ...definition })
  await publishWorkflow(runtime.ctx, { id })
  await database.sql`update workflow_versions set language = null,
    definition = replace(definition::text, '"to":"b"', '"to":"b","on":"approve"')::json where workflow_id = ${id}`
  const [{ on } = { on: null }] = await database.sql<{ on: string }[]>`
    select definition->'edges'->0->>'on' as on from workflow_versions where workflow_id = ${id}`
  expect(on).toBe('approve')
  const { runId } = await startRun(runtime.ctx, { workflowId: id, body: {} as never })
  expect(path(await runtime.wait(runId))).toBe('a#1 b#1')
})
