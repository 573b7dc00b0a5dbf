import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { watchRun } from '@/server/interpreter/notice/watch'
import { cancelRun } from '@/server/runs/cancel'
import { startRun } from '@/server/runs/start'
import { terminateRun } from '@/server/runs/terminate'
import { createWorkflow } from '@/server/workflows/lifecycle'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { type EffectServer, startEffects } from '../support/effects'
import { forge } from '../support/invariants/finality'
import { rounds } from '../support/rounds'
import { startTestRuntime, type TestRuntime } from '../support/runtime'
import { type Gap, holdAfter, slowSteps } from './gap'

// An effect of a run that was stopped does not begin. This process records each effect's begin, as it is sent.

let database: FreshDatabase
let effects: EffectServer
let runtime: TestRuntime
let other: ChildProcess
const begun: { key: string; at: number }[] = []
const { fetch } = globalThis

beforeAll(async () => {
  database = await freshDatabase({ max: 10 })
  effects = await startEffects()
  const child = fileURLToPath(new URL('./stop-child.ts', import.meta.url))
  const execArgv = ['--import', 'tsx', '--conditions=react-server']
  other = fork(child, [database.url], { execArgv })
  const ready = once(other, 'message')
  runtime = await startTestRuntime(database.url, { CANCEL_GRACE_MS: '60000' })
  globalThis.fetch = (input, init) => {
    const key = new Headers(init?.headers).get('idempotency-key')
    if (key) begun.push({ key, at: performance.now() })
    return fetch(input, init)
  }
  await ready
})

afterAll(async () => {
  globalThis.fetch = fetch
  other?.kill()
  await runtime?.stop()
  await effects?.stop()
  await database?.close()
})

const chain = (...ids: string[]) => ({
  steps: [
    ...ids.map((id) => ({ id, type: 'test-effect', url: `${effects.url}${id}` })),
    { id: 'end', type: 'end-flow' },
  ],
  edges: ids.map((id, index) => ({ from: id, to: ids[index + 1] ?? 'end' })),
})

const effectsOf = (runId: string) => begun.filter(({ key }) => key.startsWith(`${runId}:`))
const stepsOf = (runId: string) => effectsOf(runId).map(({ key }) => key.split(':')[2])

/** A run that has recorded `a` and is about to begin the effect of `b`. */
async function runAtGap() {
  const gap = await holdAfter('a')
  const runId = await runtime.start(chain('a', 'b'))
  await gap.reached
  return { runId, gap }
}

/** Lets the walk continue, and waits until it has reached the end of `b`. */
async function goOn(runId: string, gap: Gap) {
  gap.release()
  await gap.left
  expect(stepsOf(runId)).toEqual(['a'])
}

/** Ends a run as another process would, without any notification. */
async function endInSilence(runId: string) {
  await forge(database.sql, [runId])
  await database.sql`
    with ended as (
      update runs set status = 'failed', outcome = 'terminated', end_time = now() where id = ${runId} returning id)
    update walks set status = 'ended', epoch = epoch + 1 from ended where run_id = ended.id`
}

test('of a run that this process terminates, none begins once the call is answered, wherever its walk is', async () => {
  const ids = Array.from({ length: 6 }, (_, index) => `s${index}`)
  const { id: workflowId } = await createWorkflow(runtime.ctx, { name: 'Many', ...chain(...ids) })
  const late: string[] = []
  let ended = 0
  const lane = async (round: number) => {
    const { runId } = await startRun(runtime.ctx, { workflowId, body: {} })
    await expect.poll(() => effectsOf(runId).length, { interval: 2 }).toBeGreaterThan(round % 3)
    await sleep(Math.random() * 100)
    const answer = await terminateRun(runtime.ctx, { runId }).catch(() => null)
    const answeredAt = performance.now()
    if (!answer) return
    ended++
    await sleep(500)
    late.push(
      ...effectsOf(runId)
        .filter(({ at }) => at > answeredAt)
        .map(({ key, at }) => `${key} ${at - answeredAt} ms`),
    )
  }
  const restore = await slowSteps(400)
  const count = rounds(16, 1_000)
  for (let from = 0; from < count; from += 8) {
    await Promise.all(Array.from({ length: 8 }, (_, index) => lane(from + index)))
  }
  restore()
  expect(late).toEqual([])
  expect(ended).toBeGreaterThan(count / 4)
})

test('of a run terminated between two steps, the next one does not begin', async () => {
  const { runId, gap } = await runAtGap()
  await terminateRun(runtime.ctx, { runId })
  await goOn(runId, gap)
  expect(await runtime.status(runId)).toMatchObject({ outcome: 'terminated' })
})

test('of a run cancelled between two steps, the next one does not begin, not even within the grace', async () => {
  const { runId, gap } = await runAtGap()
  await cancelRun(runtime.ctx, { runId, reason: 'enough' })
  await goOn(runId, gap)
  expect(await runtime.wait(runId)).toMatchObject({ outcome: 'cancelled', error: { message: 'Cancelled: enough' } })
})

test('of a run that another process terminates, none begins once this one is notified', async () => {
  for (let round = 0; round < rounds(3, 100); round++) {
    const { runId, gap } = await runAtGap()
    const heard = new Promise<void>((resolve) => {
      const unwatch = watchRun(runId, () => {
        unwatch()
        resolve()
      })
    })
    const answered = once(other, 'message')
    other.send(runId)
    const [answer] = await answered
    expect(answer).toEqual({ stopped: runId })
    await heard
    await goOn(runId, gap)
  }
})

test('of a run that ended without a notification, none begins after its listener was lost', async () => {
  const { runId, gap } = await runAtGap()
  const listener = () => database.sql<{ pid: number }[]>`
    select pid from pg_stat_activity
    where datname = current_database() and query like 'listen %' and query like '%"millrace_run"%'`
  const [before] = await listener()
  expect(before).toBeDefined()
  await endInSilence(runId)
  await database.sql`select pg_terminate_backend(${before?.pid ?? 0})`
  await expect.poll(async () => (await listener()).some(({ pid }) => pid !== before?.pid), { interval: 5 }).toBe(true)
  await goOn(runId, gap)
})

test('of a run that ended without a notification, none begins when time has passed since its step was committed', async () => {
  const { runId, gap } = await runAtGap()
  await endInSilence(runId)
  await sleep(1_100)
  await goOn(runId, gap)
})

test('a step whose effect has not begun runs once, although another attempt of it is recorded', async () => {
  const { runId, gap } = await runAtGap()
  // As recorded by another process that took over meanwhile.
  await forge(database.sql, [runId])
  await database.sql`
    update step_records set attempt = 2, status = 'completed', end_time = now(), output_data = '{}', receipt = '{"stop":"ended"}'
    where run_id = ${runId} and step_id = 'b'`
  await sleep(1_100)
  await goOn(runId, gap)
})
