import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { onTick } from '@/app/_ui/ticks'

beforeEach(() => {
  vi.useFakeTimers({ now: 1_000_000 })
})
afterEach(() => {
  vi.useRealTimers()
})

test('all readers of an interval get the same time, however late they join, from one timer', () => {
  const told: Record<string, number> = {}
  const read = (name: string) => (now: number) => {
    told[name] = now
  }
  const stops = [onTick(1_000, read('header'))]
  vi.advanceTimersByTime(400)
  stops.push(onTick(1_000, read('timeline')))
  expect(told).toEqual({ header: 1_000_000, timeline: 1_000_000 })
  vi.advanceTimersByTime(600)
  expect(told).toEqual({ header: 1_001_000, timeline: 1_001_000 })
  expect(vi.getTimerCount()).toBe(1)
  for (const stop of stops) stop()
  expect(vi.getTimerCount()).toBe(0)
})

test('of a slow clock, one that joins late brings the others up to date', () => {
  const told: number[] = []
  const stop = onTick(15_000, (now) => told.push(now))
  vi.advanceTimersByTime(9_000)
  onTick(15_000, (now) => told.push(now))()
  expect(told).toEqual([1_000_000, 1_009_000, 1_009_000])
  stop()
})
