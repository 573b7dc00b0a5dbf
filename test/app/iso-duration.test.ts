import { describe, expect, test } from 'vitest'
import { ISO_UNITS, readIso, writeIso } from '@/app/_ui/iso-duration'
import { parseDuration } from '@/server/definition/duration'

describe('a duration as a number and unit', () => {
  test('is written as a duration that the product reads, and read back as the same number and unit', () => {
    for (const { value: unit } of ISO_UNITS) {
      for (const count of ['0', '1', '7', '10']) {
        const text = writeIso(count, unit) ?? ''
        expect(parseDuration(text), text).not.toBeNull()
        expect(readIso(text), text).toEqual({ count, unit })
      }
    }
  })

  test('has the length that its unit says', () => {
    for (const { value: unit, ms } of ISO_UNITS) {
      const read = parseDuration(writeIso('3', unit) ?? '')
      if (ms !== null) expect(read).toEqual({ months: 0, ms: 3 * ms })
    }
    expect(parseDuration(writeIso('3', 'mo') ?? '')).toEqual({ months: 3, ms: 0 })
    expect(parseDuration(writeIso('3', 'y') ?? '')).toEqual({ months: 36, ms: 0 })
  })

  test('keeps a fraction in a smaller unit; months and years are whole', () => {
    expect(writeIso('1.5', 'h')).toBe('PT90M')
    expect(writeIso('0.5', 'd')).toBe('PT12H')
    expect(writeIso('1.5', 'w')).toBe('PT252H')
    expect(writeIso('1.25', 's')).toBe('PT1.25S')
    expect(writeIso('1.', 'd')).toBe('P1D')
    expect(writeIso('1.6', 'mo')).toBe('P2M')
  })

  test('is empty without a digit', () => {
    for (const text of ['', '.']) expect(writeIso(text, 'd')).toBeUndefined()
  })

  test('does not read other text: several units, values of run data, and what is no duration', () => {
    for (const text of [
      'P1DT2H',
      'PT1H30M',
      'P1Y2M',
      '${days}',
      'P${n}D',
      'P',
      'PT',
      'P1',
      'PT1.5H',
      'P1.5D',
      '',
      'p1d',
    ])
      expect(readIso(text), text).toBeNull()
  })
})
