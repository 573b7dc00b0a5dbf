import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { rounds } from '../support/rounds'
import { startTestRuntime, type TestRuntime } from '../support/runtime'
import { bothWays, throughTheSdk } from './gap'
import { holdEffects } from './held'

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

const set = (id: string) => ({ id, type: 'set-data', values: { at: id } })
const ask = (expiresIn?: string) => ({
  id: 'ask',
  type: 'request-user-action',
  actions: [{ id: 'yes', label: 'Yes' }],
  ...(expiresIn === undefined ? {} : { expiresIn }),
})
const asking = (expiresIn: string, ...more: object[]) => ({
  steps: [ask(expiresIn), set('answered'), set('late'), set('failed')],
  edges: [{ from: 'ask', to: 'answered' }, ...more],
})
const onTimeout = { from: 'ask', to: 'late', on: 'timeout' }

async function answer(runId: string) {
  const { resumeRun } = await import('@/server/runs/resume')
  return resumeRun(runtime.ctx, { runId, body: { type: 'request_user_action', actionId: 'yes' } })
}

const atWait = ({ currentStepId }: { currentStepId?: string | null }) => currentStepId === 'wait'

describe('a delay', () => {
  test('continues when its time has come, and is running until then', async () => {
    const definition = {
      steps: [{ id: 'wait', type: 'delay', for: 'PT2S' }, set('after')],
      edges: [{ from: 'wait', to: 'after' }],
    }
    await bothWays(async () => {
      const runId = await runtime.start(definition)
      const waiting = await runtime.wait(runId, atWait)
      expect(waiting).toMatchObject({ status: 'running', currentStepId: 'wait', pauseSignal: null, pauseSignals: [] })
      const run = await runtime.wait(runId)
      expect(run).toMatchObject({ status: 'completed', data: { at: 'after' } })
      expect(run.durationMs).toBeGreaterThanOrEqual(2_000)
      expect(run.stepExecutionHistory[0]).toMatchObject({ stepId: 'wait', status: 'completed', outputData: {} })
    })
  })

  test('leaves no engine run behind, and cannot be answered by a person', async () => {
    const runId = await runtime.start({ steps: [{ id: 'wait', type: 'delay', for: 'PT1H' }] })
    await runtime.wait(runId, atWait)
    const held = async () => {
      const [row] = await database.sql<{ n: number }[]>`
        select ((select count(*) from engine.runs where event like ${`%${runId}%`} and status = 'running')
          + (select count(*) from engine.jobs where event like ${`%${runId}%`}))::int as n`
      return row?.n
    }
    await expect.poll(held).toBe(0)
    await expect(answer(runId)).rejects.toMatchObject({ code: 'RUN_NOT_PAUSED' })
    const { cancelRun } = await import('@/server/runs/cancel')
    await cancelRun(runtime.ctx, { runId })
    expect(await runtime.wait(runId)).toMatchObject({ outcome: 'cancelled' })
  })

  test('that is due while nothing watches is found by the sweep, and not taken for a walk that is stuck', async () => {
    const { sweepRuns } = await import('@/server/interpreter/repair/sweep')
    const runId = await runtime.start({
      steps: [{ id: 'wait', type: 'delay', for: 'PT2H' }, set('after')],
      edges: [{ from: 'wait', to: 'after' }],
    })
    await runtime.wait(runId, atWait)
    const sweepAt = (ms: number) =>
      sweepRuns({ db: runtime.db, log: runtime.ctx.log, now: () => new Date(Date.now() + ms) })
    expect(await sweepAt(60 * 60_000)).toMatchObject({ restarted: 0 })
    expect(await runtime.status(runId)).toMatchObject({ status: 'running', currentStepId: 'wait' })
    // Not by a sweep two hours ahead: by the walk's clock, the answer would be given after it is taken.
    await database.sql`update pauses set due_at = now() where run_id = ${runId}`
    await sweepAt(1)
    expect(await runtime.wait(runId)).toMatchObject({ status: 'completed', data: { at: 'after' } })
  })

  test('that becomes due while others are answered continues at once', async () => {
    const { watchDue } = await import('@/server/interpreter/wait/due')
    const { log } = await import('@/server/log')
    const clock = { db: runtime.db, log: log(), now: () => new Date() }
    // No process runs when it becomes due.
    watchDue(clock)()
    const runId = await runtime.start({ steps: [{ id: 'wait', type: 'delay', for: 'PT0.3S' }] })
    const dueAt = async () => {
      const [pause] = await database.sql<{ due: Date }[]>`select due_at as due from pauses where run_id = ${runId}`
      return pause?.due.getTime() ?? Number.POSITIVE_INFINITY
    }
    await expect.poll(async () => (await dueAt()) < Date.now()).toBe(true)
    const due = new Date(await dueAt())
    let looks = 0
    watchDue({ ...clock, now: () => (looks++ === 0 ? new Date(due.getTime() - 1) : new Date()) })
    expect(await runtime.wait(runId)).toMatchObject({ status: 'completed' })
    watchDue(clock)
  })
})

describe('a step for people with a time to answer', () => {
  test('shows until when, and takes the answer that comes in time', async () => {
    const runId = await runtime.start(asking('P2D', onTimeout))
    const { pauseSignal } = await runtime.wait(runId, ({ status }) => status === 'paused')
    const left = Date.parse(pauseSignal?.expiresAt ?? '') - Date.now()
    expect(left).toBeGreaterThan(2 * 86_400_000 - 60_000)
    expect(left).toBeLessThan(2 * 86_400_000)
    await answer(runId)
    expect(await runtime.wait(runId)).toMatchObject({ status: 'completed', data: { at: 'answered' } })
  })

  test('takes the timeout exit when nobody answers', async () => {
    await bothWays(async () => {
      const run = await runtime.wait(await runtime.start(asking('PT1S', onTimeout)))
      expect(run).toMatchObject({
        status: 'completed',
        data: { at: 'late', error: { code: 'TIMED_OUT', stepId: 'ask' } },
      })
      expect(run.stepExecutionHistory[0]).toMatchObject({
        ...{ stepId: 'ask', status: 'failed', errorCode: 'TIMED_OUT', handled: true, exit: 'timeout' },
      })
      await expect(answer(run.runId)).rejects.toMatchObject({ code: 'RUN_NOT_PAUSED' })
    })
  })

  test('is running, and not paused any more, while it continues after its time', async () => {
    await bothWays(async () => {
      const held = await holdEffects()
      const runId = await runtime.start({
        steps: [ask('PT0.5S'), { id: 'late', type: 'test-effect', url: held.url }],
        edges: [onTimeout],
      })
      const at = await runtime.wait(runId, ({ currentStepId }) => currentStepId === 'late')
      expect(at).toMatchObject({ status: 'running', pauseSignals: [] })
      held.release()
      expect(await runtime.wait(runId)).toMatchObject({ status: 'completed' })
      await held.stop()
    })
  })

  test('without that exit fails the run as timed out; the error exit is for failures', async () => {
    await bothWays(async () => {
      const onError = { from: 'ask', to: 'failed', on: 'error' }
      const run = await runtime.wait(await runtime.start(asking('PT0.5S', onError)))
      expect(run).toMatchObject({ status: 'failed', outcome: 'timed_out', error: { code: 'TIMED_OUT', stepId: 'ask' } })
    })
  })

  test('an answer at the last moment counts once, or comes too late', async () => {
    let [inTime, late] = [0, 0]
    // In half of them an engine run waits for the answer.
    const restore = await throughTheSdk()
    const apart = await Promise.all(
      Array.from({ length: rounds(12, 250) }, () => runtime.start(asking('PT0.9S', onTimeout))),
    )
    restore()
    const results = await Promise.all(
      Array.from({ length: rounds(24, 500) }, async (_, n) => {
        const runId = apart[n] ?? (await runtime.start(asking('PT0.6S', onTimeout)))
        await sleep(450 + ((n * 37) % 300))
        const taken = await answer(runId).then(
          () => true,
          (err) => {
            expect(err).toMatchObject({ code: 'RUN_NOT_PAUSED' })
            return false
          },
        )
        return { taken, run: await runtime.wait(runId) }
      }),
    )
    for (const { taken, run } of results) {
      if (taken) inTime++
      else late++
      expect(run).toMatchObject({ status: 'completed', data: { at: taken ? 'answered' : 'late' } })
    }
    expect(inTime + late).toBe(rounds(24, 500))
  })
})

test('runs that wait for a person have no timer and no job each, however far off their due time is', async () => {
  const timers = vi.spyOn(globalThis, 'setTimeout')
  try {
    const runs = await Promise.all(Array.from({ length: 40 }, () => runtime.start(asking('P30D', onTimeout))))
    for (const runId of runs) await runtime.wait(runId, ({ status }) => status === 'paused')
    const far = timers.mock.calls.filter(([, ms = 0]) => ms > 3_600_000)
    expect(far.length).toBeLessThanOrEqual(2)
    const held = () => database.sql`select 1 from engine.jobs where kind <> 'cron' union all select 1 from engine.waits`
    // The jobs with which they began are removed a moment after they pause.
    await expect.poll(held).toHaveLength(0)
  } finally {
    timers.mockRestore()
  }
})
