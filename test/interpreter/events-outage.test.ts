import { afterAll, beforeAll, expect, test } from 'vitest'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { startTestRuntime, type TestRuntime } from '../support/runtime'

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

test('an event is shown again within seconds to those whom the database kept from it', async () => {
  const name = 'paid'
  const runId = await runtime.start({ steps: [{ id: 'wait', type: 'wait-for-event', event: name }] })
  await expect.poll(() => database.sql`select from pauses where run_id = ${runId} and looked`).toHaveLength(1)
  // A run that would take the event waits for this lock, and loses its connection there.
  const held = await database.sql.reserve()
  await held`begin`
  await held`select from runs where id = ${runId} for update`
  const { postEvent } = await import('@/server/events/post')
  await postEvent(runtime.ctx, { name })
  await expect
    .poll(
      () => database.sql`
        select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and query like '%"runs"%'`,
    )
    .toHaveLength(1)
  const again = () => database.sql<{ inMs: number }[]>`
    select extract(epoch from due_at - now())::float8 * 1000 as "inMs" from engine.jobs
    where function_id like '%deliver-events' and attempt > 0 and owner is null`
  let due: { inMs: number } | undefined
  await expect.poll(async () => (due = (await again())[0])).toBeDefined()
  // By itself, the engine would wait for 15 s at least.
  expect(due?.inMs).toBeLessThan(5_000)
  await held`rollback`
  held.release()
  expect(await runtime.wait(runId)).toMatchObject({ status: 'completed' })
  await expect.poll(() => database.sql`select from events where delivered_at is null`).toHaveLength(0)
})
