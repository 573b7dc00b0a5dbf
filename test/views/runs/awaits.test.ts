import { afterAll, beforeAll, expect, test } from 'vitest'
import { cancelRun } from '@/server/runs/cancel'
import { refreshRuns } from '@/server/views/runs/refresh'
import { type FreshDatabase, freshDatabase } from '../../support/db'
import { startTestRuntime, type TestRuntime } from '../../support/runtime'

let database: FreshDatabase
let runtime: TestRuntime

beforeAll(async () => {
  database = await freshDatabase()
  runtime = await startTestRuntime(database.url)
})
afterAll(async () => {
  await runtime?.stop()
  await database?.close()
})

test.each([
  [{ id: 'hear', type: 'wait-for-event', event: 'paid' }, 'an event: paid'],
  [{ id: 'later', type: 'delay', for: 'PT1H' }, 'a set time'],
])('the list says what a run waits for that nobody gives, as long as it does: %j', async (step, awaits) => {
  const runId = await runtime.start({ steps: [step] })
  const shown = async () => (await refreshRuns(runtime.ctx, { runIds: [runId] }))[0]
  await expect.poll(shown).toMatchObject({ waiting: null, awaits })
  await cancelRun(runtime.ctx, { runId })
  await runtime.wait(runId)
  expect(await shown()).toMatchObject({ awaits: null })
})
