import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { keepRunning, QUIET_MS } from '@/cli/supervise'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] })
})
afterEach(() => {
  stop.abort()
  vi.useRealTimers()
})

let stop: AbortController
let lines: string[]
/** Start times of the instances, in seconds since the test began. */
let starts: number[]
let crash: () => void

/** Runs until `crash` is called, and does not start at all while `fault` returns an error. */
function watched(fault: () => Error | undefined = () => undefined) {
  stop = new AbortController()
  lines = []
  starts = []
  const from = performance.now()
  const start = async () => {
    const error = fault()
    if (error) throw error
    starts.push((performance.now() - from) / 1_000)
    return { exited: new Promise<void>((done) => (crash = done)) }
  }
  return { name: 'thing', start, log: (line: string) => lines.push(line), signal: stop.signal }
}

const wait = (ms: number) => vi.advanceTimersByTimeAsync(ms)

test('restarts any instance that ends: immediately, then after delays that grow to half a minute, and never gives up', async () => {
  await keepRunning(watched())
  const waits: number[] = []
  for (let crashes = 0; crashes < 12; crashes++) {
    const from = performance.now()
    crash()
    for (const before = starts.length; starts.length === before; ) await wait(500)
    waits.push(Math.floor((performance.now() - from) / 1_000))
  }
  expect(waits).toEqual([0, 1, 2, 4, 8, 16, 30, 30, 30, 30, 30, 30])
})

test('a quiet period resets the delays', async () => {
  await keepRunning(watched())
  for (let crashes = 0; crashes < 4; crashes++) {
    crash()
    await wait(10_000)
  }
  await wait(QUIET_MS)
  const before = starts.length
  crash()
  await wait(0)
  expect(starts).toHaveLength(before + 1)
})

test('a failed restart counts as an end, and there is a next attempt', async () => {
  let fault: Error | undefined
  await keepRunning(watched(() => fault))
  fault = new Error('no memory')
  crash()
  await wait(6_000)
  expect(lines).toEqual([
    'the thing ended; starting it again now',
    'the thing did not start (no memory); starting it again in 1 s',
    'the thing did not start (no memory), 3 times in a row; starting it again in 2 s',
    'the thing did not start (no memory), 4 times in a row; starting it again in 4 s',
  ])
  fault = undefined
  await wait(1_500)
  expect(starts).toHaveLength(2)
  expect(lines.at(-1)).toBe('the thing runs again')
})

test('a stop during a delay is final: nothing starts after it', async () => {
  let fault: Error | undefined
  await keepRunning(watched(() => fault))
  fault = new Error('no memory')
  crash()
  await wait(10_000)
  fault = undefined
  const before = lines.length
  stop.abort()
  await wait(60_000)
  expect(starts).toHaveLength(1)
  expect(lines).toHaveLength(before)
})

test('a failed first start is final, unless another attempt may succeed', async () => {
  await expect(keepRunning(watched(() => new Error('no such user')))).rejects.toThrow('no such user')
  expect(lines).toEqual([])

  let attempts = 0
  const killed = new Error('killed')
  const running = keepRunning({
    ...watched(() => (attempts++ < 6 ? killed : undefined)),
    mayPass: (error) => error === killed,
  })
  await wait(60_000)
  await running
  expect(starts).toHaveLength(1)
})
