import { describe, expect, test } from 'vitest'
import { addDuration, parseDuration } from '@/server/definition/duration'

const start = new Date('2026-01-31T10:00:00Z')
const later = (text: string) => {
  const duration = parseDuration(text)
  return duration && addDuration(start, duration).toISOString()
}

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
