import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sweepRuns } from '@/server/interpreter/repair/sweep'
import { log } from '@/server/log'
import { resumeRun } from '@/server/runs/resume'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { type EffectServer, startEffects } from '../support/effects'
import { checkInvariants, expectInvariants } from '../support/invariants/check'
import { checkEffects } from '../support/invariants/effects'
import { startTestRuntime, type TestRuntime } from '../support/runtime'
import { throughTheSdk } from './gap'

let database: FreshDatabase
let effects: EffectServer
let runtime: TestRuntime
beforeAll(async () => {
  database = await freshDatabase({ max: 10 })
  effects = await startEffects()
  runtime = await startTestRuntime(database.url, { MILLRACE_HOST_ID: 'one' })
})
afterAll(async () => {
  await runtime?.stop()
  await effects?.stop()
  await database?.close()
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

/** Assertions on a run that was answered with `n`, however it reached its end. */
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
    // Removes every wake-up of this run from the outbox, in the transaction that writes it.
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
})
