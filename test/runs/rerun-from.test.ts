import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ServiceContext } from '@/server/context'
import type { JsonValue } from '@/server/definition/json'
import { MAX_DATA_BYTES } from '@/server/definition/limits'
import { rerunRun } from '@/server/runs/rerun'
import { retryRun } from '@/server/runs/retry'
import { readStep } from '@/server/views/runs/step-detail'
import { readTimeline } from '@/server/views/runs/timeline'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { type EffectServer, startEffects } from '../support/effects'
import { startTestRuntime, type TestRuntime } from '../support/runtime'

let database: FreshDatabase
let effects: EffectServer
let runtime: TestRuntime
let healthy = true

beforeAll(async () => {
  database = await freshDatabase()
  effects = await startEffects(({ path }) =>
    path === '/moody' && !healthy ? { status: 400 } : { body: { first: 'done' } },
  )
  runtime = await startTestRuntime(database.url)
})

afterAll(async () => {
  await runtime?.stop()
  await effects?.stop()
  await database?.close()
})

const callsOf = (runId: string) => effects.seen.filter(({ key }) => key.startsWith(runId)).map(({ path }) => path)

describe('rerun from a step', () => {
  const path = () => ({
    payload: { name: { type: 'string' } },
    steps: [
      { id: 'a', type: 'test-effect', url: `${effects.url}a` },
      {
        id: 'b',
        type: 'test-effect',
        url: `${effects.url}b`,
        body: { who: '${name}', first: '${a.first}' },
        saveAs: 'b',
      },
      { id: 'c', type: 'end-flow', output: { first: '${first}', name: '${name}' } },
    ],
    edges: [
      { from: 'a', to: 'b' },
      { from: 'b', to: 'c' },
    ],
  })

  it('keeps the steps before it, and continues with some fields changed', async () => {
    const oldId = await runtime.start(path(), { name: 'Ada' })
    const old = await runtime.wait(oldId)
    const body = { fromStepId: 'b', data: { name: 'Grace' } }
    const { runId, retryOf } = await rerunRun(runtime.ctx, { runId: oldId, body })
    expect(retryOf).toBe(oldId)
    const run = await runtime.wait(runId)
    expect(run).toMatchObject({ status: 'completed', retryOf: oldId, result: { first: 'done', name: 'Grace' } })
    expect(run.stepExecutionHistory.map(({ stepId }) => stepId)).toEqual(['a', 'b', 'c'])
    expect(run.stepExecutionHistory[0]).toEqual(old.stepExecutionHistory[0])
    expect(run.stepExecutionHistory[1]?.inputData).toMatchObject({ body: { who: 'Grace', first: 'done' } })
    expect(callsOf(runId)).toEqual(['/b'])
    expect(await runtime.status(oldId)).toEqual(old)
  })

  it('continues at the latest visit of a loop, even of a run that is still open', async () => {
    const oldId = await runtime.start(
      {
        payload: { n: { type: 'number' } },
        steps: [
          { id: 'count', type: 'set-data', compute: { n: '${n} + 1' }, maxVisits: 10 },
          { id: 'more', type: 'condition', when: '${n} < 3' },
          { id: 'ask', type: 'request-user-action', actions: [{ id: 'go', label: 'Go' }] },
        ],
        edges: [
          { from: 'count', to: 'more' },
          { from: 'more', to: 'count', on: 'true' },
          { from: 'more', to: 'ask', on: 'false' },
        ],
      },
      { n: 0 },
    )
    await runtime.wait(oldId, ({ status }) => status === 'paused')
    const { runId } = await rerunRun(runtime.ctx, { runId: oldId, body: { fromStepId: 'count', data: { n: 1 } } })
    const run = await runtime.wait(runId, ({ status }) => status === 'paused')
    expect(run.data).toMatchObject({ n: 3 })
    const visits = run.stepExecutionHistory.filter(({ stepId }) => stepId === 'count').map(({ visit }) => visit)
    expect(visits).toEqual([1, 2, 3, 4])
    expect((await runtime.status(oldId)).status).toBe('paused')
  })

  it('is refused for a step that the run never came to, or only in a branch', async () => {
    const oldId = await runtime.start({
      steps: [
        { id: 'both', type: 'parallel', branches: [{ id: 'x' }] },
        { id: 'in', type: 'set-data', values: { a: 1 } },
        { id: 'never', type: 'set-data', values: { b: 1 } },
      ],
      edges: [
        { from: 'both', to: 'in', on: 'x' },
        { from: 'both', to: 'never', on: 'error' },
      ],
    })
    await runtime.wait(oldId)
    for (const fromStepId of ['in', 'never', 'nowhere'])
      await expect(rerunRun(runtime.ctx, { runId: oldId, body: { fromStepId } })).rejects.toMatchObject({
        code: 'INVALID_INPUT',
        details: [{ path: 'fromStepId' }],
      })
    const { runId } = await rerunRun(runtime.ctx, { runId: oldId, body: { fromStepId: 'both' } })
    expect(await runtime.wait(runId)).toMatchObject({ status: 'completed', data: { a: 1 } })
  })
})

describe('who may change data on the way', () => {
  const approval = {
    payload: { amount: { type: 'number' } },
    steps: [
      { id: 'sum', type: 'set-data', compute: { total: '${amount} * 2' } },
      { id: 'approve', type: 'request-user-action', actions: [{ id: 'ok', label: 'OK' }] },
      { id: 'pay', type: 'end-flow', output: { paid: '${amount}' } },
    ],
    edges: [
      { from: 'sum', to: 'approve' },
      { from: 'approve', to: 'pay' },
    ],
  }

  it('only editors without limits: others would go around the approval', async () => {
    const { resumeRun } = await import('@/server/runs/resume')
    const runId = await runtime.start(approval, { amount: 10 })
    await runtime.wait(runId, ({ status }) => status === 'paused')
    await resumeRun(runtime.ctx, { runId, body: { type: 'request_user_action', actionId: 'ok' } })
    await runtime.wait(runId)
    const editor = await runtime.as('editor')
    const limited = { ...editor, reach: { workflowIds: null, agentIds: null, ownRuns: false } }
    const body = { fromStepId: 'pay', data: { amount: 1_000 } }
    for (const ctx of [await runtime.as('operator'), limited] satisfies ServiceContext[]) {
      await expect(rerunRun(ctx, { runId, body })).rejects.toMatchObject({ code: 'FORBIDDEN' })
      for (const plain of [{ fromStepId: 'pay' }, { fromStepId: 'pay', data: {} }]) {
        const same = await rerunRun(ctx, { runId, body: plain })
        expect(await runtime.wait(same.runId)).toMatchObject({ result: { paid: 10 } })
      }
    }
    const edited = await rerunRun(editor, { runId, body })
    expect(await runtime.wait(edited.runId)).toMatchObject({ result: { paid: 1_000 } })
  })

  it('changed data never carries another person’s token claims', async () => {
    const { startRun } = await import('@/server/runs/start')
    const { createWorkflow } = await import('@/server/workflows/lifecycle')
    const { id } = await createWorkflow(runtime.ctx, { name: 'Who', steps: [{ id: 'end', type: 'end-flow' }] })
    const { runId } = await startRun({ ...runtime.ctx, trusted: { sub: 'ada' } }, { workflowId: id, body: {} })
    await runtime.wait(runId)
    const contextOf = async (ctx: ServiceContext, data: { n?: number }) => {
      const again = await rerunRun(ctx, { runId, body: { fromStepId: 'end', data } })
      const [row] = await database.sql`select context from runs where id = ${again.runId}`
      return row?.context
    }
    expect(await contextOf(runtime.ctx, {})).toEqual({ sub: 'ada' })
    expect(await contextOf(runtime.ctx, { n: 2 })).toBeNull()
    expect(await contextOf({ ...runtime.ctx, trusted: { sub: 'bob' } }, { n: 2 })).toEqual({ sub: 'bob' })
  })
})

describe('a run with changed data', () => {
  /** `add` raises `n` by 10, `moody` may fail. */
  const adds = () => ({
    payload: { n: { type: 'number' }, name: { type: 'string' } },
    steps: [
      { id: 'a', type: 'set-data', values: { before: true } },
      { id: 'add', type: 'set-data', compute: { n: '${n} + 10' } },
      { id: 'moody', type: 'test-effect', url: `${effects.url}moody` },
      { id: 'end', type: 'end-flow', output: { n: '${n}', name: '${name}' } },
    ],
    edges: [
      { from: 'a', to: 'add' },
      { from: 'add', to: 'moody' },
      { from: 'moody', to: 'end' },
    ],
  })

  /** A run that failed at `moody` after `n` and `name` were changed in front of `add`. */
  async function failedEdited(): Promise<string> {
    healthy = false
    const oldId = await runtime.start(adds(), { n: 1, name: 'Ada' })
    await runtime.wait(oldId)
    const body = { fromStepId: 'add', data: { n: 100, name: 'Grace' } }
    const { runId } = await rerunRun(runtime.ctx, { runId: oldId, body })
    expect(await runtime.wait(runId)).toMatchObject({ status: 'failed', data: { n: 110, name: 'Grace' } })
    healthy = true
    return runId
  }

  it('keeps it in a retry, and the values that steps wrote over it', async () => {
    const { runId } = await retryRun(runtime.ctx, { runId: await failedEdited() })
    expect(await runtime.wait(runId)).toMatchObject({ status: 'completed', result: { n: 110, name: 'Grace' } })
  })

  it('keeps it when it runs again from a step, except fields changed again', async () => {
    const oldId = await failedEdited()
    const again = async (from: string, fromStepId: string, data = {}) => {
      const { runId } = await rerunRun(runtime.ctx, { runId: from, body: { fromStepId, data } })
      return { runId, result: (await runtime.wait(runId)).result }
    }
    // Before the step that overwrote a change, the change counts; after it, the step's value.
    expect((await again(oldId, 'add')).result).toEqual({ n: 110, name: 'Grace' })
    expect((await again(oldId, 'a')).result).toEqual({ n: 110, name: 'Grace' })
    const third = await again(oldId, 'moody', { name: 'Eve' })
    expect(third.result).toEqual({ n: 110, name: 'Eve' })
    expect((await again(third.runId, 'end', { n: 5 })).result).toEqual({ n: 5, name: 'Eve' })
    expect((await again(third.runId, 'end')).result).toEqual({ n: 110, name: 'Eve' })
  })
})

describe('a step of the failure path', () => {
  it('cannot be continued at; a step that was also visited before the failure continues at that visit', async () => {
    healthy = false
    const oldId = await runtime.start({
      steps: [
        { id: 'twice', type: 'set-data', values: { seen: '${error.code ?? "nothing"}' } },
        { id: 'moody', type: 'test-effect', url: `${effects.url}moody` },
        { id: 'tell', type: 'set-data', values: { told: true } },
      ],
      edges: [
        { from: 'twice', to: 'moody' },
        { from: 'tell', to: 'twice' },
      ],
      initialStep: 'twice',
      onFailure: 'tell',
    })
    const old = await runtime.wait(oldId)
    const visited = ({ stepExecutionHistory }: typeof old) => stepExecutionHistory.map(({ stepId }) => stepId)
    expect(visited(old)).toEqual(['twice', 'moody', 'tell', 'twice', 'moody'])
    await expect(rerunRun(runtime.ctx, { runId: oldId, body: { fromStepId: 'tell' } })).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      details: [{ path: 'fromStepId' }],
    })
    const { rows } = await readTimeline(runtime.ctx, { runId: oldId })
    const steps = await Promise.all(rows.map(([seq]) => readStep(runtime.ctx, { runId: oldId, seq })))
    expect(steps.map(({ startsAgain }) => startsAgain)).toEqual([true, true, false, false, false])
    healthy = true
    const { runId } = await rerunRun(runtime.ctx, { runId: oldId, body: { fromStepId: 'twice' } })
    const run = await runtime.wait(runId)
    expect(run).toMatchObject({ status: 'completed', data: { seen: 'nothing' } })
    expect(visited(run)).toEqual(['twice', 'moody'])
  })
})

describe('changed data is checked', () => {
  let runId: string
  beforeAll(async () => {
    runId = await runtime.start(
      {
        payload: { n: { type: 'number' }, name: { type: 'string', options: ['Ada', 'Bob'] } },
        steps: [
          { id: 'a', type: 'set-data', values: { more: 1 } },
          { id: 'end', type: 'end-flow', output: { n: '${n}' } },
        ],
        edges: [{ from: 'a', to: 'end' }],
      },
      { n: 1, name: 'Ada' },
    )
    await runtime.wait(runId)
  })
  const deep = (levels: number): JsonValue => (levels === 0 ? 1 : [deep(levels - 1)])

  it.each<[string, Record<string, JsonValue>, string]>([
    ['a NUL character', { more: { text: 'a\u0000b' } }, 'data.more.text'],
    ['half a character', { more: '\ud800' }, 'data.more'],
    ['too many levels', { more: deep(201) }, 'data.more'],
    ['another type than START has', { n: '7' }, 'data.n'],
    ['an option that START does not have', { name: 'Eve' }, 'data.name'],
    ['more than fits into run data', { more: 'x'.repeat(MAX_DATA_BYTES) }, 'data'],
  ])('%s is refused', async (_what, data, path) => {
    await expect(rerunRun(runtime.ctx, { runId, body: { fromStepId: 'end', data } })).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      details: [{ path }],
    })
  })

  it('fields that START does not have may have any value, and those it has may be left out', async () => {
    const again = await rerunRun(runtime.ctx, { runId, body: { fromStepId: 'end', data: { more: deep(150), n: 2 } } })
    expect(await runtime.wait(again.runId)).toMatchObject({ status: 'completed', result: { n: 2 } })
  })
})
