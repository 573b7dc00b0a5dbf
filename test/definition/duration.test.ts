import { describe, expect, test } from 'vitest'
import { addDuration, durationMs, durationText, parseDuration } from '@/server/definition/duration'

const start = new Date('2026-01-31T10:00:00Z')
const later = (text: string) => {
  const duration = parseDuration(text)
  return duration && addDuration(start, duration).toISOString()
}

test.each([
  [1_500, 'PT1.5S'],
  [90_000, 'PT90S'],
  [5_400_000, 'PT90M'],
  [7_200_000, 'PT2H'],
  [604_800_000, 'P7D'],
])('%i ms is written as %s, and read back', (ms, text) => {
  expect([durationText(ms), durationMs(text)]).toEqual([text, ms])
})

test('a duration with months has no fixed length', () => {
  expect([durationMs('P1M'), durationMs('P1Y'), durationMs('soon')]).toEqual([null, null, null])
})

describe('a duration', () => {
  test.each([
    ['PT0S', '2026-01-31T10:00:00.000Z'],
    ['PT1.5S', '2026-01-31T10:00:01.500Z'],
    ['PT90M', '2026-01-31T11:30:00.000Z'],
    ['P1DT2H', '2026-02-01T12:00:00.000Z'],
    ['P2W', '2026-02-14T10:00:00.000Z'],
    ['P1M', '2026-02-28T10:00:00.000Z'],
    ['P1Y', '2027-01-31T10:00:00.000Z'],
  ])('%s', (text, expected) => {
    expect(later(text)).toBe(expected)
  })

  test.each(['', 'P', 'PT', 'P1DT', '2h', 'PT-1S', '-P1D', 'P1.5D', 'P11Y', 'pt1s', 'P1H', `P${'9'.repeat(60)}D`])(
    '%s is not one',
    (text) => {
      expect(parseDuration(text)).toBeNull()
    },
  )
})
