import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { PresentedRun } from '@/server/runs/present'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { type EffectServer, startEffects } from '../support/effects'
import { startTestRuntime, type TestRuntime } from '../support/runtime'
import { bothWays } from './gap'

let database: FreshDatabase
let runtime: TestRuntime
let effects: EffectServer
beforeAll(async () => {
  database = await freshDatabase()
  effects = await startEffects((body) => (JSON.stringify(body).includes('fail') ? { status: 422 } : { status: 200 }))
  runtime = await startTestRuntime(database.url)
})
afterAll(async () => {
  await runtime.stop()
  await effects.stop()
  await database.close()
})

const set = (id: string, values: object = { [id]: id }) => ({ id, type: 'set-data', values })
const ask = (id: string) => ({ id, type: 'request-user-action', actions: [{ id: 'yes', label: 'Yes' }] })
const fails = (id: string) => ({ id, type: 'condition', when: '1 / 0 > 0' })
const on = (from: string, exit: string, to: string) => ({ from, to, on: exit })
const checks = (more: object = {}) => ({
  id: 'checks',
  type: 'parallel',
  branches: [{ id: 'a' }, { id: 'b' }],
  ...more,
})

const stepsOf = ({ stepExecutionHistory }: PresentedRun) =>
  stepExecutionHistory.map(({ branch, stepId, status }) => `${branch ?? ''}:${stepId} ${status}`)

async function answer(runId: string, at: { stepId?: string; pauseId?: string } = {}) {
  const { resumeRun } = await import('@/server/runs/resume')
  return resumeRun(runtime.ctx, { runId, body: { type: 'request_user_action', actionId: 'yes', ...at } })
}

describe('parallel', () => {
  test('runs every branch, and continues with the data of all of them', async () => {
    await bothWays(async () => {
      const runId = await runtime.start({
        steps: [checks(), set('one'), set('two'), set('three'), set('end', { all: '${one}${two}${three}' })],
        edges: [
          on('checks', 'a', 'one'),
          { from: 'one', to: 'two' },
          on('checks', 'b', 'three'),
          on('checks', 'done', 'end'),
        ],
      })
      const run = await runtime.wait(runId)
      expect(run, JSON.stringify(run)).toMatchObject({
        status: 'completed',
        data: { one: 'one', two: 'two', three: 'three', all: 'onetwothree' },
      })
      expect(run.stepExecutionHistory[0]).toMatchObject({
        stepId: 'checks',
        exit: 'done',
        outputData: { completed: ['a', 'b'], failed: [], stopped: [] },
      })
      expect(run.stepExecutionHistory[0]).not.toHaveProperty('branch')
      expect(new Set(stepsOf(run))).toEqual(
        new Set([
          ':checks completed',
          'checks#1/a:one completed',
          'checks#1/a:two completed',
          'checks#1/b:three completed',
          ':end completed',
        ]),
      )
    })
  })

  test('has several pauses open at once, which are answered in any order', async () => {
    await bothWays(async () => {
      const runId = await runtime.start({
        steps: [checks(), ask('one'), ask('two')],
        edges: [on('checks', 'a', 'one'), on('checks', 'b', 'two')],
      })
      const paused = await runtime.wait(runId, ({ pauseSignals }) => pauseSignals.length === 2)
      expect(paused.pauseSignals[0]).toMatchObject({ stepId: paused.currentStepId })
      expect(paused.pauseSignals.map(({ branch }) => branch).toSorted()).toEqual(['checks#1/a', 'checks#1/b'])
      expect(await answer(runId, { stepId: 'two' })).toMatchObject({ status: 'paused' })
      const half = await runtime.wait(
        runId,
        ({ status, currentStepId }) => status === 'paused' && currentStepId === 'one',
      )
      expect(await answer(runId, { pauseId: half.pauseSignals[0]?.id ?? '' })).toMatchObject({ status: 'running' })
      expect(await runtime.wait(runId)).toMatchObject({ status: 'completed', data: { one: { actionId: 'yes' } } })
    })
  })

  test('without an edge, fails with the step that failed, and stops the other branches', async () => {
    await bothWays(async () => {
      const runId = await runtime.start({
        steps: [checks(), fails('bad'), ask('one')],
        edges: [on('checks', 'a', 'one'), on('checks', 'b', 'bad')],
      })
      const run = await runtime.wait(runId)
      expect(run).toMatchObject({
        outcome: 'failed',
        error: { code: 'EXPRESSION_FAILED', stepId: 'bad' },
        pauseSignals: [],
      })
      // It may have been stopped before its call.
      for (const { stepId, errorCode } of run.stepExecutionHistory)
        if (stepId === 'one') expect(errorCode).toBe('STOPPED')
      expect(run.stepExecutionHistory.every(({ status }) => status !== 'running')).toBe(true)
    })
  })

  test('takes its error exit, where the error names the step that failed', async () => {
    const runId = await runtime.start({
      steps: [checks(), fails('bad'), set('one'), set('caught', { why: '${error.stepId}' })],
      edges: [on('checks', 'a', 'one'), on('checks', 'b', 'bad'), on('checks', 'error', 'caught')],
    })
    const run = await runtime.wait(runId)
    expect(run).toMatchObject({ outcome: 'succeeded', data: { why: 'bad' } })
    expect(run.data).not.toHaveProperty('one')
    expect(run.stepExecutionHistory[0]).toMatchObject({
      stepId: 'checks',
      status: 'failed',
      handled: true,
      exit: 'error',
    })
  })

  test('a failure that a branch handles itself does not fail the branch', async () => {
    const runId = await runtime.start({
      steps: [checks(), fails('bad'), set('one'), set('two')],
      edges: [on('checks', 'a', 'one'), on('checks', 'b', 'bad'), on('bad', 'error', 'two')],
    })
    expect(await runtime.wait(runId)).toMatchObject({ outcome: 'succeeded', data: { one: 'one', two: 'two' } })
  })

  test('that waits for any leaves no open record, task or engine run behind', async () => {
    await bothWays(async () => {
      const runId = await runtime.start({
        steps: [checks({ wait: 'any' }), { id: 'slow', type: 'delay', for: 'PT1H' }, ask('two'), set('end')],
        edges: [on('checks', 'a', 'slow'), on('checks', 'b', 'two'), on('checks', 'done', 'end')],
      })
      await runtime.wait(
        runId,
        ({ stepExecutionHistory, pauseSignals }) => stepExecutionHistory.length === 3 && pauseSignals.length === 1,
      )
      await answer(runId)
      const run = await runtime.wait(runId)
      expect(run).toMatchObject({ outcome: 'succeeded', data: { end: 'end', two: { actionId: 'yes' } } })
      expect(run.stepExecutionHistory[0]).toMatchObject({
        outputData: { completed: ['b'], failed: [], stopped: ['a'] },
      })
      await expectNothingLeft(runId)
    })
  })

  test('continues while enough can still succeed, and fails once they cannot', async () => {
    const three = (wait: unknown) => ({
      steps: [
        {
          id: 'checks',
          type: 'parallel',
          branches: [{ id: 'a' }, { id: 'b' }, { id: 'c' }],
          wait,
          onBranchError: 'continue',
        },
        set('one'),
        fails('bad'),
        fails('worse'),
      ],
      edges: [on('checks', 'a', 'one'), on('checks', 'b', 'bad'), on('checks', 'c', 'worse')],
    })
    const enough = await runtime.wait(await runtime.start(three(1)))
    expect(enough).toMatchObject({ outcome: 'succeeded', data: { one: 'one' } })
    expect(await runtime.wait(await runtime.start(three('2')))).toMatchObject({
      outcome: 'failed',
      error: { code: 'JOIN_IMPOSSIBLE', stepId: 'checks' },
    })
  })

  test('an end in a branch ends the whole run with that branch’s data, and stops the others', async () => {
    await bothWays(async () => {
      for (const [end, expected] of [
        [
          { id: 'end', type: 'end-flow', output: { got: '${one}' } },
          { outcome: 'succeeded', result: { got: 'one' } },
        ],
        [
          { id: 'end', type: 'fail-flow', code: 'NO', message: 'no' },
          { outcome: 'failed', error: { code: 'NO', stepId: 'end' } },
        ],
      ] as const) {
        const runId = await runtime.start({
          steps: [checks(), set('one'), end, ask('two')],
          edges: [on('checks', 'a', 'one'), { from: 'one', to: 'end' }, on('checks', 'b', 'two')],
        })
        expect(await runtime.wait(runId)).toMatchObject(expected)
        await expectNothingLeft(runId)
      }
    })
  })

  test('a cancel and a terminate reach every branch', async () => {
    const { cancelRun } = await import('@/server/runs/cancel')
    const { terminateRun } = await import('@/server/runs/terminate')
    await bothWays(async () => {
      for (const [stop, outcome] of [
        [cancelRun, 'cancelled'],
        [terminateRun, 'terminated'],
      ] as const) {
        const runId = await runtime.start({
          steps: [checks(), ask('one'), { id: 'slow', type: 'delay', for: 'PT1H' }, set('clean')],
          edges: [on('checks', 'a', 'one'), on('checks', 'b', 'slow')],
          onCancel: 'clean',
        })
        await runtime.wait(runId, ({ stepExecutionHistory }) => stepExecutionHistory.length === 3)
        await stop(runtime.ctx, { runId })
        const run = await runtime.wait(runId)
        expect(run).toMatchObject({ outcome, pauseSignals: [] })
        expect(run.stepExecutionHistory.filter(({ status }) => status === 'running')).toEqual([])
        await expectNothingLeft(runId)
      }
    })
  })

  test('can be nested in another one, and sees the data around it', async () => {
    const runId = await runtime.start({
      steps: [
        set('first'),
        checks(),
        set('one', { one: '${first}' }),
        { id: 'inner', type: 'parallel', branches: [{ id: 'x' }, { id: 'y' }] },
        set('x', { x: '${one}${first}' }),
        set('y', { y: '${one}' }),
        set('two'),
        set('after', { after: '${x} ${y} ${two}' }),
      ],
      edges: [
        { from: 'first', to: 'checks' },
        on('checks', 'a', 'one'),
        { from: 'one', to: 'inner' },
        on('inner', 'x', 'x'),
        on('inner', 'y', 'y'),
        on('checks', 'b', 'two'),
        on('checks', 'done', 'after'),
      ],
    })
    expect(await runtime.wait(runId)).toMatchObject({
      status: 'completed',
      data: { first: 'first', one: 'first', x: 'firstfirst', two: 'two', after: 'firstfirst first two' },
    })
  })

  test('fails after a branch did, and a retry runs all of its branches again', async () => {
    const { retryRun } = await import('@/server/runs/retry')
    const runId = await runtime.start(
      {
        payload: { n: { type: 'number' } },
        steps: [set('first'), checks(), set('one'), { id: 'bad', type: 'condition', when: '1 / ${n} > 0' }],
        edges: [{ from: 'first', to: 'checks' }, on('checks', 'a', 'one'), on('checks', 'b', 'bad')],
      },
      { n: 0 },
    )
    expect(await runtime.wait(runId)).toMatchObject({ outcome: 'failed' })
    const again = await retryRun(runtime.ctx, { runId })
    const run = await runtime.wait(again.runId)
    expect(run).toMatchObject({ outcome: 'failed', error: { stepId: 'bad' } })
    expect(stepsOf(run).filter((step) => step === ':first completed')).toHaveLength(1)
  })
})

async function expectNothingLeft(runId: string): Promise<void> {
  await expect
    .poll(async () => {
      const [left] = await database.sql<object[]>`
        select (select count(*) from step_records where run_id = ${runId} and end_time is null)::int as records,
          (select count(*) from pauses where run_id = ${runId} and consumed_at is null)::int as tasks,
          (select count(*) from walks where run_id = ${runId} and status <> 'ended')::int as walks,
          (select count(*) from engine.waits w join engine.runs r on r.id = w.run_id where r.event like ${`%${runId}%`})::int as waits,
          (select count(*) from engine.runs where event like ${`%${runId}%`} and status = 'running')::int as engine`
      return left
    })
    .toEqual({ records: 0, tasks: 0, walks: 0, waits: 0, engine: 0 })
}
