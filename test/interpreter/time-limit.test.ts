import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { copyRun } from '../support/copy-run'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { type EffectServer, startEffects } from '../support/effects'
import { startTestRuntime, type TestRuntime } from '../support/runtime'
import { bothWays } from './gap'
import { holdEffects } from './held'

let database: FreshDatabase
let runtime: TestRuntime
let effects: EffectServer
beforeAll(async () => {
  database = await freshDatabase()
  runtime = await startTestRuntime(database.url)
  effects = await startEffects(() => ({ delayMs: 600_000 }))
})
afterAll(async () => {
  await runtime.stop()
  await effects.stop()
  await database.close()
})

const ask = { id: 'ask', type: 'request-user-action', actions: [{ id: 'go', label: 'Go' }] }
const after = { id: 'after', type: 'set-data', values: { after: true } }
const limits = { timeoutMs: 1_000 }
const TIMED_OUT = { status: 'failed', outcome: 'timed_out', error: { code: 'RUN_TIMED_OUT' } }

describe('the time limit of a run', () => {
  test('ends a run that waits for a person; an answer comes too late', async () => {
    const { resumeRun } = await import('@/server/runs/resume')
    // Long enough for a slow machine to reach the pause.
    const limits = { timeoutMs: 2_500 }
    await bothWays(async () => {
      const runId = await runtime.start({ steps: [ask, after], edges: [{ from: 'ask', to: 'after' }], limits })
      const run = await runtime.wait(runId)
      expect(run).toMatchObject({ ...TIMED_OUT, error: { code: 'RUN_TIMED_OUT', stepId: 'ask' }, data: {} })
      expect(run.stepExecutionHistory).toMatchObject([{ stepId: 'ask', status: 'failed', errorCode: 'RUN_TIMED_OUT' }])
      const answer = resumeRun(runtime.ctx, { runId, body: { type: 'request_user_action', actionId: 'go' } })
      await expect(answer).rejects.toMatchObject({ code: 'RUN_NOT_PAUSED' })
    })
  })

  test('stops a step that works, and every branch', async () => {
    await bothWays(async () => {
      const runId = await runtime.start({
        steps: [
          { id: 'both', type: 'parallel', branches: [{ id: 'left' }, { id: 'right' }] },
          { id: 'work', type: 'test-effect', url: effects.url, saveAs: 'work' },
          { id: 'wait', type: 'delay', for: 'PT1H' },
        ],
        edges: [
          { from: 'both', to: 'work', on: 'left' },
          { from: 'both', to: 'wait', on: 'right' },
        ],
        limits,
      })
      const run = await runtime.wait(runId)
      expect(run).toMatchObject(TIMED_OUT)
      expect(run.stepExecutionHistory.every(({ status }) => status === 'failed')).toBe(true)
    })
  })

  test('does not touch a run that ended in time, nor one without a limit', async () => {
    const { sweepRuns } = await import('@/server/interpreter/repair/sweep')
    const quick = await runtime.start({ steps: [after], limits })
    const free = await runtime.start({ steps: [ask] })
    const long = await runtime.start({ steps: [ask], limits: { timeoutMs: 3_600_000 } })
    await runtime.wait(quick)
    await sleep(1_200)
    await sweepRuns({ db: runtime.db, log: runtime.ctx.log, now: () => new Date() })
    expect(await runtime.status(quick)).toMatchObject({ status: 'completed', data: { after: true } })
    for (const runId of [free, long]) expect(await runtime.status(runId)).toMatchObject({ status: 'paused' })
  })

  test('is found by the sweep when nothing watched, and belongs to the version: a retry gets it anew', async () => {
    const { watchDue } = await import('@/server/interpreter/wait/due')
    const { sweepRuns } = await import('@/server/interpreter/repair/sweep')
    const { retryRun } = await import('@/server/runs/retry')
    const clock = { db: runtime.db, log: runtime.ctx.log, now: () => new Date() }
    watchDue(clock)()
    await database.sql`delete from engine.jobs where id like 'cron:millrace-sweep:%'`
    const runId = await runtime.start({ steps: [ask], limits })
    await runtime.wait(runId, ({ status }) => status === 'paused')
    await sleep(1_200)
    expect(await runtime.status(runId)).toMatchObject({ status: 'paused' })
    await sweepRuns(clock)
    expect(await runtime.status(runId)).toMatchObject(TIMED_OUT)
    watchDue(clock)
    const again = await retryRun(runtime.ctx, { runId })
    expect(await runtime.wait(again.runId)).toMatchObject(TIMED_OUT)
  })

  test('is watched for where engine runs wait for the time of pauses, which are left to them', async () => {
    const { watchDue } = await import('@/server/interpreter/wait/due')
    const clock = { db: runtime.db, log: runtime.ctx.log, now: () => new Date() }
    watchDue(clock)()
    watchDue(clock, { pauses: 'questions' })
    const waits = await runtime.start({ steps: [{ id: 'nap', type: 'delay', for: 'PT1S' }] })
    const runId = await runtime.start({ steps: [ask], limits: { timeoutMs: 1_500 } })
    expect(await runtime.wait(runId, undefined, 20_000)).toMatchObject(TIMED_OUT)
    expect((await runtime.status(waits)).endTime).toBeUndefined()
    watchDue(clock)
    expect(await runtime.wait(waits)).toMatchObject({ status: 'completed' })
  })

  test('ends every run whose time is up in one look, however many', async () => {
    const { answerDue, watchDue } = await import('@/server/interpreter/wait/due')
    const clock = { db: runtime.db, log: runtime.ctx.log, now: () => new Date() }
    watchDue(clock)()
    const runId = await runtime.start({ steps: [ask], limits })
    await copyRun(database.sql, runId, 200)
    await sleep(1_200)
    await answerDue(clock)
    const [ended] = await database.sql`
      select count(*)::int as count from runs where id like ${`${runId}%`} and outcome = 'timed_out'`
    expect(ended).toEqual({ count: 201 })
    watchDue(clock)
  })

  test('leaves a run alone that is being cancelled', async () => {
    const { cancelRun } = await import('@/server/runs/cancel')
    const { sweepRuns } = await import('@/server/interpreter/repair/sweep')
    const slow = await holdEffects()
    const runId = await runtime.start({
      steps: [ask, { id: 'undo', type: 'test-effect', url: slow.url, saveAs: 'undo' }],
      onCancel: 'undo',
      limits: { timeoutMs: 3_600_000 },
    })
    await runtime.wait(runId, ({ status }) => status === 'paused')
    await cancelRun(runtime.ctx, { runId })
    await expect.poll(slow.asked).toBe(1)
    await database.sql`update runs set timeout_at = now() - interval '1 s' where id = ${runId}`
    await sweepRuns({ db: runtime.db, log: runtime.ctx.log, now: () => new Date() })
    slow.release()
    const run = await runtime.wait(runId)
    expect(run).toMatchObject({ outcome: 'cancelled', cancellation: { cleanup: 'completed' } })
    await slow.stop()
  })

  test('is at least a second and at most ten years; null removes it', async () => {
    const { createWorkflow, updateWorkflow } = await import('@/server/workflows/lifecycle')
    for (const timeoutMs of [999, 1.5, 400_000_000_000, '1000'])
      await expect(createWorkflow(runtime.ctx, { name: 'x', limits: { timeoutMs } })).rejects.toMatchObject({
        code: 'INVALID_INPUT',
        details: [{ path: 'limits.timeoutMs' }],
      })
    const { id, limits: kept } = await createWorkflow(runtime.ctx, { name: 'x', limits })
    expect(kept).toEqual(limits)
    expect(await updateWorkflow(runtime.ctx, { id, body: { name: 'y' } })).toMatchObject({ limits })
    expect(await updateWorkflow(runtime.ctx, { id, body: { limits: null } })).not.toHaveProperty('limits')
  })
})
