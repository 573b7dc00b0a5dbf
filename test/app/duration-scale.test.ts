import { expect, test } from 'vitest'
import { durationScale } from '@/app/(dashboard)/[tenant]/_insights/duration-scale'

const HOUR = 3_600_000
const texts = (durations: number[]) => durationScale(durations).lines.map(({ text }) => text)

test('a scale goes from a line below the shortest duration to one above the longest', () => {
  expect(texts([1_200, 59_000])).toEqual(['1 s', '10 s', '1 m'])
  expect(texts([38 * 60_000, 1.7 * HOUR])).toEqual(['10 m', '1 h', '10 h'])
  expect(durationScale([1_000, 100_000]).lines[0]?.at).toBe(0)
})

test('it has few lines, however far apart the durations are', () => {
  expect(texts([3, 1.7 * HOUR])).toEqual(['1 ms', '1 s', '10 m'])
  for (const longest of [1, 50, 9_000, HOUR, 40 * HOUR, 1e12]) {
    const { lines } = durationScale([0, longest])
    expect(lines.length).toBeGreaterThan(1)
    expect(lines.length).toBeLessThan(5)
  }
})

test('equal steps are equal factors, and all durations are within the scale', () => {
  const { at } = durationScale([1_000, 10_000])
  expect(at(Math.sqrt(1_000 * 10_000))).toBeCloseTo(0.5)
  for (const durations of [[0], [5], [HOUR], [1e12]]) {
    const place = durationScale(durations).at(durations[0] ?? 0)
    expect(place).toBeGreaterThanOrEqual(0)
    expect(place).toBeLessThanOrEqual(1)
  }
})
