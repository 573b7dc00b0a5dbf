import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { type EffectServer, startEffects } from '../support/effects'
import { startTestRuntime, type TestRuntime } from '../support/runtime'
import { bothWays } from './gap'

let database: FreshDatabase
let runtime: TestRuntime
let effects: EffectServer
beforeAll(async () => {
  database = await freshDatabase()
  runtime = await startTestRuntime(database.url)
  effects = await startEffects(() => ({ status: 503 }))
})
afterAll(async () => {
  await runtime.stop()
  await effects.stop()
  await database.close()
})

/** Whether the run's engine job waits, and until when. */
async function waitsUntil(runId: string): Promise<Date | undefined> {
  const [job] = await database.sql<{ due_at: Date }[]>`
    select j.due_at from engine.jobs j left join engine.runs r on r.id = j.run_id
    where j.owner is null and coalesce(j.event, r.event) like ${`%${runId}%`} and j.due_at > now()`
  return job?.due_at
}

/** The engine waits by the database's clock, which this advances for one run. */
async function moveOn(runId: string): Promise<void> {
  await database.sql`
    update engine.jobs j set due_at = now()
    where j.owner is null and j.due_at > now() and (j.event like ${`%${runId}%`}
      or exists (select 1 from engine.runs r where r.id = j.run_id and r.event like ${`%${runId}%`}))`
  await database.sql`select pg_notify('engine', '')`
}

test('a step that fails for the moment is tried again after about 1, 5, 30 and 120 s', async () => {
  await bothWays(async () => {
    const before = effects.seen.length
    const runId = await runtime.start({ steps: [{ id: 'a', type: 'test-effect', url: effects.url }] })
    const attemptsOf = (run: Awaited<ReturnType<typeof runtime.status>>) =>
      (run.stepExecutionHistory[0]?.attempts ?? []) as { endTime: string; retryInMs?: number }[]
    const waited = new Set<number>()
    for (;;) {
      const run = await runtime.status(runId)
      if (run.endTime) break
      const due = await waitsUntil(runId)
      const attempts = attemptsOf(await runtime.status(runId))
      const { endTime = '', retryInMs = 0 } = attempts.at(-1) ?? {}
      // It still waits, so these are the attempts that precede its waits.
      const still = (await waitsUntil(runId))?.getTime() === due?.getTime()
      if (due && still && !waited.has(attempts.length) && retryInMs > 0) {
        // Not one moment before.
        expect(due.getTime()).toBeGreaterThanOrEqual(Date.parse(endTime) + retryInMs - 1)
        expect(effects.seen.length - before).toBe(attempts.length)
        waited.add(attempts.length)
        await moveOn(runId)
      }
      await sleep(20)
    }
    const ended = await runtime.status(runId)
    expect(ended.status).toBe('failed')
    expect(effects.seen.length - before).toBe(5)
    const delays = attemptsOf(ended).map(({ retryInMs }) => retryInMs)
    expect(delays).toHaveLength(5)
    expect(delays[4]).toBeUndefined()
    for (const [n, seconds] of [1, 5, 30, 120].entries()) {
      expect(delays[n]).toBeGreaterThanOrEqual(800 * seconds)
      expect(delays[n]).toBeLessThanOrEqual(1_200 * seconds)
    }
    // A busy machine may have let the short ones pass.
    for (const long of [3, 4]) expect(waited).toContain(long)
  })
})
