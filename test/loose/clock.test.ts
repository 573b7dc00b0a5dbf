import { afterEach, expect, test, vi } from 'vitest'
import type { Sql } from '@/db/index'
import { clockRead, now, setClock } from '@/server/clock'

const HOUR = 3_600_000

/** A database whose clock is `ahead` of this machine's true time. */
function clockOf(database: { ahead: number; asked: number }): Sql {
  const wall = Date.now() - performance.now()
  return (async () => {
    database.asked++
    return [{ ms: wall + performance.now() + database.ahead }]
  }) as unknown as Sql
}

afterEach(() => {
  vi.useRealTimers()
})

test.each([HOUR, -HOUR])('on a machine whose clock is %d ms off, the time is the database’s', async (ahead) => {
  const database = { ahead, asked: 0 }
  await setClock(clockOf(database))
  expect(Math.abs(now().getTime() - Date.now() - ahead)).toBeLessThan(1_000)
  for (let n = 0; n < 1_000; n++) now()
  expect(database.asked).toBe(1)
})

test.each([HOUR, -HOUR])(
  'when this machine’s clock jumps by %d ms, the time does not, and the database is asked',
  async (jump) => {
    vi.useFakeTimers({ toFake: ['Date', 'performance'] })
    const database = { ahead: 0, asked: 0 }
    await setClock(clockOf(database))
    vi.advanceTimersByTime(10_000)
    const before = now().getTime()
    vi.setSystemTime(Date.now() + jump)
    expect(now().getTime()).toBe(before)
    await clockRead()
    expect(database.asked).toBe(2)
    expect(Math.abs(now().getTime() - before)).toBeLessThan(1_000)
  },
)

test('it follows the database within a minute, and never goes back by little', async () => {
  vi.useFakeTimers({ toFake: ['Date', 'performance'] })
  const database = { ahead: 0, asked: 0 }
  await setClock(clockOf(database))
  database.ahead = -2_000
  vi.advanceTimersByTime(61_000)
  const before = now()
  await clockRead()
  expect(now()).toEqual(before)
  vi.advanceTimersByTime(2_500)
  expect(now().getTime() - before.getTime()).toBe(500)
})

test('a database that does not answer changes nothing, and is not asked all the time', async () => {
  vi.useFakeTimers({ toFake: ['Date', 'performance'] })
  let asked = 0
  const failing = clockOf({ ahead: HOUR, asked: 0 }) as unknown as () => Promise<unknown>
  await setClock((async () => {
    if (asked++ > 0) throw new Error('away')
    return failing()
  }) as unknown as Sql)
  const before = now().getTime()
  vi.advanceTimersByTime(70_000)
  for (let n = 0; n < 100; n++) {
    now()
    await clockRead()
  }
  expect(asked).toBe(2)
  expect(now().getTime()).toBe(before + 70_000)
})
