import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { Backlog } from '@/inngest/engine/backlog'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { until } from './support'

let database: FreshDatabase
beforeAll(async () => {
  database = await freshDatabase()
})
// Only the test decides how old a reading is.
beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(async () => {
  vi.useRealTimers()
  await database.sql`truncate engine.jobs`
})
afterAll(() => database.close())

const log = { debug() {}, info() {}, warn() {}, error() {} }
/** A queue whose room is checked, as before each start. */
function backlog(most: number): Backlog {
  const queue = new Backlog(database.sql, log, most)
  queue.room('f', null)
  return queue
}

/** The room once the queue may be read again. */
function later(queue: Backlog, lane: string) {
  vi.advanceTimersByTime(1_100)
  return queue.room('f', lane)
}

/** Jobs that wait, in the database. */
async function waiting(lane: string, count: number) {
  await database.sql`
    insert into engine.jobs (id, function_id, kind, lane, due_at)
    select gen_random_uuid(), 'f', 'run', ${lane}, now() from generate_series(1, ${count}::int) n`
}

test('a lane has no more jobs waiting than it leaves room for; when all lanes fill the queue, no lane has room', async () => {
  const queue = backlog(10)
  for (let n = 0; n < 5; n++) {
    expect(queue.room('f', 'busy')).toBe('free')
    await waiting('busy', 1)
    queue.queued('f', 'busy')
  }
  await queue.settled()
  expect([queue.room('f', 'busy'), queue.room('f', 'quiet')]).toEqual(['lane full', 'free'])
  await waiting('a', 2)
  await waiting('b', 3)
  // Jobs queued by other processes count as soon as they are read.
  expect(await until(() => (later(queue, 'quiet') === 'full' ? queue.room('f', 'busy') : undefined))).toBe('full')
})

test('room comes back when the jobs are claimed', async () => {
  const queue = backlog(4)
  await waiting('busy', 2)
  for (let n = 0; n < 2; n++) queue.queued('f', 'busy')
  expect(queue.room('f', 'busy')).toBe('lane full')
  await database.sql`update engine.jobs set owner = 'somebody'`
  await until(() => later(queue, 'busy') === 'free')
})

test('after a while without starts, none is refused because of an old reading', async () => {
  const queue = backlog(4)
  await waiting('busy', 2)
  for (let n = 0; n < 2; n++) queue.queued('f', 'busy')
  await queue.settled()
  expect(queue.room('f', 'busy')).toBe('lane full')
  await queue.settled()
  vi.advanceTimersByTime(3_000)
  expect(queue.room('f', 'busy')).toBe('free')
  await queue.settled()
  expect(queue.room('f', 'busy')).toBe('lane full')
})

test('while nothing has to wait, and without a limit, nothing is read', async () => {
  let statements = 0
  const counting = ((...args: Parameters<typeof database.sql>) => {
    statements++
    return database.sql(...args)
  }) as unknown as typeof database.sql
  const idle = new Backlog(counting, log, 10)
  const unlimited = new Backlog(counting, log, 0)
  for (let n = 0; n < 100; n++) {
    expect(idle.room('f', 'a')).toBe('free')
    unlimited.queued('f', 'a')
    expect(unlimited.room('f', 'a')).toBe('free')
  }
  expect(statements).toBe(0)
  // Queued jobs cost a reading, but not one each.
  for (let n = 0; n < 3; n++) idle.queued('f', 'a')
  await sleep(0)
  expect(statements).toBe(1)
})

test('jobs of a function that nobody asks about take no room', async () => {
  const queue = backlog(4)
  expect(queue.room('f', 'busy')).toBe('free')
  await database.sql`
    insert into engine.jobs (id, function_id, kind, lane, due_at)
    select gen_random_uuid(), 'other', 'run', 'busy', now() from generate_series(1, 10) n`
  for (let n = 0; n < 10; n++) queue.queued('other', 'busy')
  queue.queued('f', 'busy')
  await queue.settled()
  expect(later(queue, 'busy')).toBe('free')
})
