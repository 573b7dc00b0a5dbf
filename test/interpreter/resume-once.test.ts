import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sweepRuns } from '@/server/interpreter/sweep'
import { log } from '@/server/log'
import { resumeRun } from '@/server/runs/resume'
import { startRun } from '@/server/runs/start'
import { getRunStatus } from '@/server/runs/status'
import { createWorkflow } from '@/server/workflows/create'
import { until } from '../engine/support'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { type EffectServer, startEffects } from '../support/effects'
import { checkInvariants, expectInvariants } from '../support/invariants/check'
import { checkEffects } from '../support/invariants/effects'
import { startTestRuntime, type TestRuntime } from '../support/runtime'
import { throughTheSdk } from './gap'

const CHILD = fileURLToPath(new URL('./resume-child.ts', import.meta.url))

let database: FreshDatabase
let effects: EffectServer
let runtime: TestRuntime
const children = new Set<ChildProcess>()
beforeAll(async () => {
  database = await freshDatabase({ max: 10 })
  effects = await startEffects()
  runtime = await startTestRuntime(database.url, { MILLRACE_HOST_ID: 'one' })
})
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL')
  await runtime?.stop()
  await effects?.stop()
  await database?.drop()
})

const definition = () => ({
  name: 'Resumed',
  steps: [
    { id: 'ask', type: 'collect-inputs', output: { n: { type: 'number' } } },
    { id: 'work', type: 'test-effect', url: effects.url, saveAs: 'worked' },
    { id: 'end', type: 'end-flow', output: { n: '${n}' } },
  ],
  edges: [
    { from: 'ask', to: 'work' },
    { from: 'work', to: 'end' },
  ],
})
const answer = (runId: string, n: number) =>
  resumeRun(runtime.ctx, { runId, body: { type: 'collect_inputs', data: { n } } })

/** What must be true of a run that was answered with `n`, in whatever way it came to its end. */
async function expectApplied(runId: string, n: number): Promise<void> {
  const run = await runtime.wait(runId, undefined, 30_000)
  expect(run).toMatchObject({ status: 'completed', result: { n }, data: { n } })
  expect(run.stepExecutionHistory.map(({ stepId, status }) => `${stepId} ${status}`)).toEqual([
    'ask completed',
    'work completed',
    'end completed',
  ])
  await expectInvariants(database.sql)
  expect(await checkEffects(database.sql, effects.seen)).toEqual([])
}

describe('I4: an answered resume is applied exactly once', () => {
  test('although the job that continues it was lost', async () => {
    const runId = await runtime.start(definition())
    await runtime.wait(runId, (run) => run.status === 'paused')
    await database.sql.unsafe(`
      create function lose_job() returns trigger language plpgsql as $$ begin return null; end $$;
      create trigger lose_job before insert on engine.jobs for each row
        when (new.event like '%walk.requested%') execute function lose_job()`)
    await answer(runId, 5)
    await database.sql`drop trigger lose_job on engine.jobs`
    expect((await checkInvariants(database.sql)).map(({ name }) => name)).toEqual(['I17'])
    const later = () => new Date(Date.now() + 20 * 60_000)
    expect(await sweepRuns({ db: database.db, log: log(), now: later })).toMatchObject({ restarted: 1 })
    await expectApplied(runId, 5)
  })

  test('although the wake-up of an engine run that waits for it was lost', async () => {
    const restore = await throughTheSdk()
    const runId = await runtime.start(definition())
    await runtime.wait(runId, (run) => run.status === 'paused')
    restore()
    // Takes every wake-up of this run out of the outbox, in the transaction that writes it.
    await database.sql.unsafe(`
      create function lose_wake_up() returns trigger language plpgsql as $$ begin return null; end $$;
      create trigger lose_wake_up before insert on outbox for each row
        when (new.name = 'workflow/run.woken') execute function lose_wake_up()`)
    await answer(runId, 3)
    await database.sql`drop trigger lose_wake_up on outbox`
    expect((await checkInvariants(database.sql)).map(({ name }) => name)).toEqual(['I17'])
    const later = () => new Date(Date.now() + 6_000)
    expect(await sweepRuns({ db: database.db, log: log(), now: later })).toMatchObject({ nudged: 1 })
    await expectApplied(runId, 3)
  })

  test('although its wake-up came many times', async () => {
    const runId = await runtime.start(definition())
    await runtime.wait(runId, (run) => run.status === 'paused')
    await answer(runId, 4)
    const later = () => new Date(Date.now() + 6_000)
    for (let again = 0; again < 10; again++) await sweepRuns({ db: database.db, log: log(), now: later })
    await expectApplied(runId, 4)
  })

  test('through a crash at any message to the database, from the call to the run’s end', async () => {
    await runtime.stop()
    const whole = await crash(0, 'before')
    expect(whole.accepted).toBe(true)
    await expectApplied(whole.runId, 1)
    // All of them with SOAK=1; else the first, one in the middle and the last, on either side.
    const { messages } = whole
    const all = Array.from({ length: messages }, (_, index) => index + 1)
    const some = [...new Set([1, Math.ceil(messages / 2), messages])]
    // The engine's own messages are counted too, so that the answer may come later than the first time.
    const later = Array.from({ length: 10 }, (_, index) => messages + 1 + index)
    let answered = 0
    for (const message of [...(process.env.SOAK ? all : some), ...later]) {
      if (message > messages && answered > 0) break
      for (const when of process.env.SOAK || message > 1 ? ['before', 'after'] : ['before']) {
        const { runId, accepted } = await crash(message, when)
        // With every process dead.
        await expectInvariants(database.sql)
        runtime = await startTestRuntime(database.url)
        const { status } = await runtime.status(runId)
        // Not accepted and not written: whoever asked may ask again.
        if (status === 'paused') {
          expect(accepted, `the answer was accepted and is lost (${when} ${message})`).toBe(false)
          await answer(runId, 2)
          await expectApplied(runId, 2)
        } else {
          answered++
          await expectApplied(runId, 1)
        }
        await runtime.stop()
      }
    }
    expect(answered).toBeGreaterThan(0)
  }, 3_600_000)
})

/** Answers a new run in a process of its own that dies at one of its messages. No other process works meanwhile. */
async function crash(message: number, when: string) {
  const { ctx } = runtime
  const { id } = await createWorkflow(ctx, definition())
  const { runId } = await startRun(ctx, { workflowId: id, body: {} })
  const args = ['--import', 'tsx', '--conditions=react-server', CHILD, ctx.tenantId, runId, String(message), when]
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  children.add(child)
  const dead = once(child, 'exit').then(() => children.delete(child))
  const said: string[] = []
  createInterface({ input: child.stdout }).on('line', (line) => said.push(line))
  const status = async () => (await getRunStatus(ctx, { runId })).status
  await until(async () => (await status()) === 'paused', 60_000)
  child.stdin.write('go\n')
  if (message === 0) {
    await until(async () => (await status()) === 'completed', 60_000)
    child.stdin.write('count\n')
    await until(() => said.some((line) => line.startsWith('messages')))
    child.kill('SIGKILL')
  }
  while (children.has(child)) {
    // A process that happens to need fewer messages than the first one lives on.
    if ((await status()) === 'completed' && (await Promise.race([dead, sleep(1_000)])) === undefined)
      child.kill('SIGKILL')
    await Promise.race([dead, sleep(20)])
  }
  const messages = Number(said.find((line) => line.startsWith('messages'))?.slice(9) ?? 0)
  return { runId, accepted: said.includes('accepted'), messages }
}
