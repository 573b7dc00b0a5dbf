import { setTimeout as sleep } from 'node:timers/promises'
import { and, eq } from 'drizzle-orm'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { outbox } from '@/db/schema/outbox'
import { pauses, runs, walks } from '@/db/schema/runs'
import { cancelRun } from '@/server/runs/cancel'
import { resumeRun } from '@/server/runs/resume'
import { terminateRun } from '@/server/runs/terminate'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { type Effect, type EffectServer, startEffects } from '../support/effects'
import { startTestRuntime, type TestRuntime } from '../support/runtime'

let database: FreshDatabase
let effects: EffectServer
let runtime: TestRuntime

/** So long that only the tests of these limits, which set their own, reach them. */
const LONG = { CANCEL_GRACE_MS: 120_000, CANCEL_CLEANUP_MS: 120_000 }
const SHORT_MS = 700
const limits = vi.hoisted(() => ({ CANCEL_GRACE_MS: 0, CANCEL_CLEANUP_MS: 0 }))
vi.mock('@/server/env', async (original) => {
  const real = await original<typeof import('@/server/env')>()
  return { ...real, env: () => ({ ...real.env(), ...limits }) }
})
/** Lets the held effects of a step answer, by their keys. */
const held = new Map<string, () => void>()

beforeAll(async () => {
  database = await freshDatabase()
  effects = await startEffects(({ path, key }, times) => {
    const [, kind, argument, second] = path.split('/')
    if (kind === 'held') return { after: new Promise<void>((done) => held.set(key, done)) }
    if (kind === 'slow') return { delayMs: Number(argument) }
    if (kind === 'fail') return { status: Number(argument) }
    if (kind === 'flaky') return times <= Number(argument) ? { status: 503 } : {}
    return { body: { [`done_${kind}`]: argument ?? second ?? true } }
  })
  Object.assign(limits, LONG)
  runtime = await startTestRuntime(database.url)
  // Later, the sweep does what must happen without it.
  await database.sql`delete from engine.jobs where id like 'cron:millrace-sweep:%'`
})

afterEach(() => void Object.assign(limits, LONG))

afterAll(async () => {
  await runtime?.stop()
  await effects?.stop()
  await database?.close()
  vi.doUnmock('@/server/env')
})

const effect = (id: string, path: string, more: object = {}) => ({
  id,
  type: 'test-effect',
  url: effects.url + path,
  retry: { maxAttempts: 3, initialDelayMs: 100, backoff: 'fixed' },
  ...more,
})
const ask = { id: 'ask', type: 'collect-inputs', output: { age: { type: 'number' } } }
const end = { id: 'end', type: 'end-flow' }
const chain = (...steps: { id: string }[]) => ({
  steps,
  initialStep: steps[0]?.id,
  edges: steps.slice(1).map((step, index) => ({ from: steps[index]?.id, to: step.id })),
})
const withCleanup = (main: ReturnType<typeof chain>, cleanup: ReturnType<typeof chain>) => ({
  ...main,
  steps: [...main.steps, ...cleanup.steps],
  edges: [...main.edges, ...cleanup.edges],
  onCancel: cleanup.initialStep,
})

const callsOf = (runId: string): Effect[] => effects.seen.filter(({ key }) => key.startsWith(runId))

async function called(runId: string, count = 1): Promise<void> {
  await expect.poll(() => callsOf(runId).length).toBeGreaterThanOrEqual(count)
}

function letGo(runId: string): void {
  for (const [key, done] of held) if (key.startsWith(runId)) done()
}

describe('cancel', () => {
  it('I11: closes a paused run in its own transaction', async () => {
    const runId = await runtime.start(chain(ask, end))
    await runtime.wait(runId, (run) => run.status === 'paused')
    const answer = await cancelRun(runtime.ctx, { runId, reason: 'not needed' })
    expect(answer).toMatchObject({ success: true, runId, status: 'failed', outcome: 'cancelled', reason: 'not needed' })
    const run = await runtime.status(runId)
    expect(run).toMatchObject({
      status: 'failed',
      outcome: 'cancelled',
      pauseSignal: null,
      result: null,
      currentStepId: 'ask',
      cancellation: { kind: 'cancel', reason: 'not needed', requestedBy: 'key_owner' },
      error: { code: 'CANCELLED', message: 'Cancelled: not needed' },
    })
    expect(run.stepExecutionHistory).toMatchObject([
      { stepId: 'ask', status: 'failed', error: 'Cancelled: not needed', outputData: {} },
    ])
    await expect(
      resumeRun(runtime.ctx, { runId, body: { type: 'collect_inputs', data: { age: 1 } } }),
    ).rejects.toMatchObject({ code: 'RUN_NOT_PAUSED' })
    // The pause is withdrawn, and the engine holds no work of the run.
    const [pause] = await database.db.select().from(pauses).where(eq(pauses.runId, runId))
    expect(pause?.answeredAt).not.toBeNull()
    await engineIsDoneWith(runId)
  })

  it('lets a running step finish within the grace period, and starts nothing after it', async () => {
    const runId = await runtime.start(chain(effect('work', 'held'), effect('after', 'ok/after'), end))
    await called(runId)
    expect(await cancelRun(runtime.ctx, { runId })).toMatchObject({ status: 'running', outcome: null, reason: null })
    expect(await runtime.status(runId)).toMatchObject({ status: 'running', cancellation: { kind: 'cancel' } })
    letGo(runId)
    const run = await runtime.wait(runId)
    expect(run).toMatchObject({ status: 'failed', outcome: 'cancelled', error: { message: 'Cancelled' } })
    expect(run.stepExecutionHistory).toMatchObject([{ stepId: 'work', status: 'completed' }])
    expect(callsOf(runId)).toHaveLength(1)
  })

  it('aborts a step that runs beyond the grace period', async () => {
    limits.CANCEL_GRACE_MS = SHORT_MS
    const runId = await runtime.start(chain(effect('work', 'held'), end))
    await called(runId)
    const asked = Date.now()
    await cancelRun(runtime.ctx, { runId, reason: 'too late' })
    const run = await runtime.wait(runId)
    expect(Date.now() - asked).toBeGreaterThanOrEqual(SHORT_MS - 50)
    expect(run).toMatchObject({ outcome: 'cancelled' })
    expect(run.stepExecutionHistory).toMatchObject([{ status: 'failed', error: 'Cancelled: too late' }])
  })

  it('reaches a process through polling when the notification was lost', async () => {
    limits.CANCEL_GRACE_MS = SHORT_MS
    const runId = await runtime.start(chain(effect('work', 'held'), end))
    await called(runId)
    // The request as another process would have written it, without its notification.
    await database.db
      .update(runs)
      .set({
        cancelRequestedAt: new Date(),
        cancellation: { kind: 'cancel', reason: null, requestedBy: 'system', requestedAt: new Date().toISOString() },
      })
      .where(eq(runs.id, runId))
    expect(await runtime.wait(runId)).toMatchObject({ outcome: 'cancelled' })
  })

  it('does not wait for the next attempt of a step that would be retried', async () => {
    const slowRetry = { retry: { maxAttempts: 3, initialDelayMs: 60_000 } }
    const runId = await runtime.start(chain(effect('work', 'fail/503', slowRetry), end))
    await runtime.wait(runId, (run) => Boolean(run.stepExecutionHistory[0]?.attempts))
    const answer = await cancelRun(runtime.ctx, { runId, reason: 'enough' })
    expect(answer).toMatchObject({ status: 'failed', outcome: 'cancelled' })
  })

  it('I10: runs the cleanup path once, retries it after temporary failures, and then closes the run', async () => {
    const cleanup = chain(effect('undo', 'flaky/1'), effect('tell', 'ok/told', { body: { name: '${name}' } }))
    const runId = await runtime.start(
      { ...withCleanup(chain(ask, end), cleanup), payload: { name: { type: 'string' } } },
      { name: 'Ada' },
    )
    await runtime.wait(runId, (run) => run.status === 'paused')
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => cancelRun(runtime.ctx, { runId, reason: 'stop it' })),
    )
    for (const answer of answers) expect(answer).toMatchObject({ status: 'running', outcome: null, reason: 'stop it' })
    expect(await runtime.status(runId)).toMatchObject({ status: 'running', pauseSignal: null })
    const run = await runtime.wait(runId)
    expect(run).toMatchObject({ status: 'failed', outcome: 'cancelled', cancellation: { cleanup: 'completed' } })
    expect(run.stepExecutionHistory.map((step) => [step.stepId, step.status, step.attempt])).toEqual([
      ['ask', 'failed', 1],
      ['undo', 'completed', 2],
      ['tell', 'completed', 1],
    ])
    expect(callsOf(runId).map((call) => call.path)).toEqual(['/flaky/1', '/flaky/1', '/ok/told'])
    expect(callsOf(runId).at(-1)?.body).toEqual({ name: 'Ada' })
    expect(new Set(callsOf(runId).map((call) => call.key)).size).toBe(2)
    await engineIsDoneWith(runId)
  })

  it('accepts an answer that arrived before it, and goes no further', async () => {
    const runId = await runtime.start(chain(ask, effect('after', 'ok/after'), end))
    await runtime.wait(runId, (run) => run.status === 'paused')
    await resumeRun(runtime.ctx, { runId, body: { type: 'collect_inputs', data: { age: 41 } } })
    const answer = await cancelRun(runtime.ctx, { runId }).catch(() => null)
    const run = await runtime.wait(runId)
    expect(run.stepExecutionHistory[0]).toMatchObject({ stepId: 'ask', status: 'completed' })
    expect(run.data).toMatchObject({ age: 41 })
    expect(run.outcome).toBe(answer ? 'cancelled' : 'succeeded')
  })

  it('leaves every step at its first attempt when nothing went wrong', async () => {
    const runId = await runtime.start(chain(effect('a', 'flaky/1'), effect('b', 'ok/b'), ask, effect('c', 'ok/c'), end))
    await runtime.wait(runId, (run) => run.status === 'paused')
    await resumeRun(runtime.ctx, { runId, body: { type: 'collect_inputs', data: { age: 41 } } })
    const run = await runtime.wait(runId)
    expect(run.stepExecutionHistory.map((step) => [step.stepId, step.attempt])).toEqual([
      ['a', 2],
      ['b', 1],
      ['ask', 1],
      ['c', 1],
      ['end', 1],
    ])
  })

  it('runs the cleanup path after a step that was running', async () => {
    const runId = await runtime.start(withCleanup(chain(effect('work', 'held'), end), chain(effect('undo', 'ok/u'))))
    await called(runId)
    await cancelRun(runtime.ctx, { runId })
    letGo(runId)
    const run = await runtime.wait(runId)
    expect(run.stepExecutionHistory.map((step) => [step.stepId, step.status])).toEqual([
      ['work', 'completed'],
      ['undo', 'completed'],
    ])
    expect(run).toMatchObject({ outcome: 'cancelled', currentStepId: 'undo' })
  })

  it('stays at the last step of a cleanup path that ends with a step of its own', async () => {
    const cleanup = chain(effect('undo', 'ok/u'), { ...end, id: 'cleaned' })
    const runId = await runtime.start(withCleanup(chain(ask, end), cleanup))
    await runtime.wait(runId, (run) => run.status === 'paused')
    await cancelRun(runtime.ctx, { runId })
    const run = await runtime.wait(runId)
    expect(run).toMatchObject({ outcome: 'cancelled', currentStepId: 'undo', error: { stepId: 'undo' } })
  })

  it('ends a cleanup that takes too long', async () => {
    limits.CANCEL_CLEANUP_MS = SHORT_MS
    const runId = await runtime.start(withCleanup(chain(ask, end), chain(effect('undo', 'held'))))
    await runtime.wait(runId, (run) => run.status === 'paused')
    await cancelRun(runtime.ctx, { runId })
    const run = await runtime.wait(runId)
    expect(run).toMatchObject({ outcome: 'cancelled', cancellation: { cleanup: 'failed' } })
    expect(run.stepExecutionHistory.at(-1)).toMatchObject({
      stepId: 'undo',
      status: 'failed',
      errorCode: 'CLEANUP_TIMED_OUT',
    })
  })

  it('does not cut the cleanup short with the grace period of the step before it', async () => {
    limits.CANCEL_GRACE_MS = SHORT_MS
    const cleanup = chain(effect('undo', `slow/${SHORT_MS + 600}`))
    const runId = await runtime.start(withCleanup(chain(effect('work', 'held'), end), cleanup))
    await called(runId)
    await cancelRun(runtime.ctx, { runId })
    letGo(runId)
    const run = await runtime.wait(runId)
    expect(run.stepExecutionHistory.at(-1)).toMatchObject({ stepId: 'undo', status: 'completed' })
  })

  it('on a run that ended is a conflict, or changes nothing if it was cancelled', async () => {
    const runId = await runtime.start(chain(end))
    await runtime.wait(runId)
    await expect(cancelRun(runtime.ctx, { runId })).rejects.toMatchObject({
      code: 'RUN_ALREADY_ENDED',
      status: 409,
      details: [{ status: 'completed' }],
    })
    const other = await runtime.start(chain(ask, end))
    await runtime.wait(other, (run) => run.status === 'paused')
    await cancelRun(runtime.ctx, { runId: other, reason: 'first' })
    const before = await runtime.status(other)
    expect(await cancelRun(runtime.ctx, { runId: other, reason: 'second' })).toMatchObject({
      outcome: 'cancelled',
      reason: 'first',
    })
    expect(await terminateRun(runtime.ctx, { runId: other, reason: 'third' })).toMatchObject({ outcome: 'cancelled' })
    expect(await runtime.status(other)).toEqual(before)
  })

  it.each([
    ['no body', {}, 'INVALID_INPUT'],
    ['a number for an id', { runId: 7 }, 'INVALID_INPUT'],
    ['a reason too long', { runId: 'run_x', reason: 'x'.repeat(1001) }, 'INVALID_INPUT'],
    ['an unknown run', { runId: 'run_unknown' }, 'RUN_NOT_FOUND'],
    ['a malformed id', { runId: '../../etc' }, 'RUN_NOT_FOUND'],
    ['an endless id', { runId: 'x'.repeat(5000) }, 'RUN_NOT_FOUND'],
  ])('rejects %s', async (_name, body, code) => {
    await expect(cancelRun(runtime.ctx, body)).rejects.toMatchObject({ code })
    await expect(terminateRun(runtime.ctx, body)).rejects.toMatchObject({ code })
  })

  it("does not affect another tenant's run or another workflow's, and viewers may not use it", async () => {
    const runId = await runtime.start(chain(ask, end))
    await runtime.wait(runId, (run) => run.status === 'paused')
    const before = await runtime.status(runId)
    const foreign = await runtime.as('owner', 'ten_other')
    for (const stop of [cancelRun, terminateRun]) {
      await expect(stop(foreign, { runId })).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' })
      await expect(stop(runtime.ctx, { runId, workflowId: 'wf_x' })).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' })
      await expect(stop(await runtime.as('viewer'), { runId })).rejects.toMatchObject({ code: 'FORBIDDEN' })
    }
    expect(await runtime.status(runId)).toEqual(before)
    expect(await cancelRun(runtime.ctx, { runId, workflowId: before.workflowId })).toMatchObject({ success: true })
  })
})

describe('terminate', () => {
  it('I9: takes precedence over a running step: its late result changes nothing', async () => {
    const runId = await runtime.start(chain(effect('work', 'held'), effect('after', 'ok/after'), end))
    await called(runId)
    const answer = await terminateRun(runtime.ctx, { runId, reason: 'now' })
    expect(answer).toMatchObject({ success: true, status: 'failed', outcome: 'terminated', reason: 'now' })
    const closed = await runtime.status(runId)
    expect(closed).toMatchObject({ status: 'failed', outcome: 'terminated', cancellation: { kind: 'terminate' } })
    expect(closed.stepExecutionHistory).toMatchObject([{ status: 'failed', error: 'Terminated: now' }])
    letGo(runId)
    await sleep(300)
    expect(await runtime.status(runId)).toEqual(closed)
    expect(callsOf(runId)).toHaveLength(1)
    await engineIsDoneWith(runId)
  })

  it('I11: ends a paused run, runs no cleanup, and refuses a later resume', async () => {
    const runId = await runtime.start(withCleanup(chain(ask, end), chain(effect('undo', 'ok/undo'))))
    await runtime.wait(runId, (run) => run.status === 'paused')
    await terminateRun(runtime.ctx, { runId })
    await sleep(300)
    expect(await runtime.status(runId)).toMatchObject({ outcome: 'terminated', error: { message: 'Terminated' } })
    expect(callsOf(runId)).toHaveLength(0)
    await expect(
      resumeRun(runtime.ctx, { runId, body: { type: 'collect_inputs', data: { age: 1 } } }),
    ).rejects.toMatchObject({ code: 'RUN_NOT_PAUSED' })
    await engineIsDoneWith(runId)
  })

  it('ends a run during its cleanup', async () => {
    const runId = await runtime.start(withCleanup(chain(ask, end), chain(effect('undo', 'held'))))
    await runtime.wait(runId, (run) => run.status === 'paused')
    await cancelRun(runtime.ctx, { runId, reason: 'soft' })
    await called(runId)
    await terminateRun(runtime.ctx, { runId, reason: 'hard' })
    const closed = await runtime.status(runId)
    expect(closed).toMatchObject({ outcome: 'terminated', cancellation: { kind: 'terminate', reason: 'hard' } })
    letGo(runId)
    await sleep(300)
    expect(await runtime.status(runId)).toEqual(closed)
  })
})

async function engineIsDoneWith(runId: string): Promise<void> {
  const open = async () => {
    const left = await database.sql`
      select r.id from engine.runs r where r.event like ${`%${runId}%`} and r.ended_at is null`
    return left.length + (await database.db.select().from(outbox)).length
  }
  await expect.poll(open).toBe(0)
  const left = await database.db
    .select()
    .from(walks)
    .where(and(eq(walks.runId, runId), eq(walks.status, 'walking')))
  expect(left).toEqual([])
}
