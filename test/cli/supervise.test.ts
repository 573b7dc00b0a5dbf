import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { supervise } from '@/cli/supervise'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'Date'] })
})
afterEach(() => {
  vi.useRealTimers()
})

/** Things that run until `crash` is called. */
function crowd() {
  const starts: number[] = []
  let crash = () => {}
  const start = () => {
    starts.push(Date.now())
    return { exited: new Promise<void>((done) => (crash = done)) }
  }
  return { starts, start, crash: () => crash() }
}

test('what ends is started again: at once the first time, then later and later, and not a fifth time in a minute', async () => {
  const { starts, start, crash } = crowd()
  const lines: string[] = []
  const log = (line: string) => lines.push(line)
  const signal = new AbortController().signal
  const end = supervise({ name: 'thing', first: start(), restart: async () => start(), log, signal, sleep })
  for (let crashes = 0; crashes < 5; crashes++) {
    crash()
    await vi.advanceTimersByTimeAsync(5_000)
  }
  expect(await end).toMatch(/^The thing ended 5 times within a minute/)
  expect(starts).toHaveLength(5)
  expect(lines).toEqual([
    'the thing ended; starting it again',
    'the thing ended; starting it again in 1 s',
    'the thing ended; starting it again in 2 s',
    'the thing ended; starting it again in 4 s',
  ])
})

test('crashes that lie a minute apart do not add up', async () => {
  const { starts, start, crash } = crowd()
  const stop = new AbortController()
  const end = supervise({
    name: 'thing',
    first: start(),
    restart: async () => start(),
    log() {},
    signal: stop.signal,
    sleep,
  })
  for (let crashes = 0; crashes < 8; crashes++) {
    crash()
    await vi.advanceTimersByTimeAsync(61_000)
  }
  expect(starts).toHaveLength(9)
  stop.abort()
  expect(await end).toBe(undefined)
})

test('a restart that fails counts as a crash, and a stop ends the waiting', async () => {
  const { start, crash } = crowd()
  const stop = new AbortController()
  const failing = async () => {
    throw new Error('no memory')
  }
  const lines: string[] = []
  const log = (line: string) => lines.push(line)
  const end = supervise({ name: 'thing', first: start(), restart: failing, log, signal: stop.signal, sleep })
  crash()
  await vi.advanceTimersByTimeAsync(1_500)
  expect(lines.filter((line) => line.includes('did not start: no memory')).length).toBeGreaterThan(1)
  stop.abort()
  expect(await end).toBe(undefined)
})

function sleep(ms: number): Promise<void> {
  return new Promise((done) => setTimeout(done, ms))
}
