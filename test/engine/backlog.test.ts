import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { Backlog } from '@/inngest/engine/backlog'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { until } from './support'

let database: FreshDatabase
beforeAll(async () => {
  database = await freshDatabase()
})
// How old a reading is depends on the test alone.
beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(async () => {
  vi.useRealTimers()
  await database.sql`truncate engine.jobs`
})
afterAll(() => database.drop())

const log = { debug() {}, info() {}, warn() {}, error() {} }
const backlog = (most: number) => new Backlog(database.sql, log, most)

/** The room once the queue may be read again. */
function later(queue: Backlog, lane: string) {
  vi.advanceTimersByTime(1_100)
  return queue.room(lane)
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
    expect(queue.room('busy')).toBe('free')
    await waiting('busy', 1)
    queue.queued('busy')
  }
  await queue.settled()
  expect([queue.room('busy'), queue.room('quiet')]).toEqual(['lane full', 'free'])
  await waiting('a', 2)
  await waiting('b', 3)
  // What other processes queue counts as soon as it is read.
  expect(await until(() => (later(queue, 'quiet') === 'full' ? queue.room('busy') : undefined))).toBe('full')
})

test('room comes back when the jobs are claimed', async () => {
  const queue = backlog(4)
  await waiting('busy', 2)
  for (let n = 0; n < 2; n++) queue.queued('busy')
  expect(queue.room('busy')).toBe('lane full')
  await database.sql`update engine.jobs set owner = 'somebody'`
  await until(() => later(queue, 'busy') === 'free')
})

test('after a while without starts, none is refused for what was true before', async () => {
  const queue = backlog(4)
  await waiting('busy', 2)
  for (let n = 0; n < 2; n++) queue.queued('busy')
  await queue.settled()
  expect(queue.room('busy')).toBe('lane full')
  await queue.settled()
  vi.advanceTimersByTime(3_000)
  expect(queue.room('busy')).toBe('free')
  await queue.settled()
  expect(queue.room('busy')).toBe('lane full')
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
    expect(idle.room('a')).toBe('free')
    unlimited.queued('a')
    expect(unlimited.room('a')).toBe('free')
  }
  expect(statements).toBe(0)
  // Queued jobs cost a reading, but not one each.
  for (let n = 0; n < 3; n++) idle.queued('a')
  await sleep(0)
  expect(statements).toBe(1)
})
