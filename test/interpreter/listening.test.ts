import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { watchRun } from '@/server/interpreter/notice/watch'
import { liveChanges } from '@/server/live/channel'
import { type FreshDatabase, freshDatabase } from '../support/db'

// As in a process that its platform suspends between requests: it has not started to listen by itself.

let database: FreshDatabase
beforeAll(async () => {
  database = await freshDatabase()
  Object.assign(process.env, { DATABASE_URL: database.url, LOG_LEVEL: 'fatal' })
})
afterEach(() => void vi.useRealTimers())
afterAll(() => database?.close())

const listening = async () =>
  (await database.sql`select 1 from pg_stat_activity where datname = current_database() and query ~ '^(un)?listen '`)
    .length

/** Ends the awaited work, and lets time pass. */
function after(ms: number, release: () => void): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  release()
  vi.advanceTimersByTime(ms)
  vi.useRealTimers()
}

test('a process keeps one connection that listens while there are waiting callers, and none 20 s after the last', async () => {
  const [one, other, page] = [watchRun('run_1', () => {}), watchRun('run_2', () => {}), liveChanges.use()]
  await expect.poll(listening).toBe(1)
  after(60_000, () => {
    one()
    // Calling it again changes nothing.
    one()
    page.release()
  })
  expect(await listening()).toBe(1)
  after(19_000, other)
  expect(await listening()).toBe(1)

  const again = watchRun('run_3', () => {})
  after(20_000, again)
  await expect.poll(listening).toBe(0)
  const last = watchRun('run_4', () => {})
  await expect.poll(listening).toBe(1)
  last()
})
