import { describe, expect, test } from 'vitest'
import { delay } from '@/server/steps/delay'

if (delay.mode !== 'pause') throw new Error('delay must wait')
const { ask, check } = delay
const now = new Date('2026-01-01T00:00:00Z')
const asked = (config: object) => ask({ stepId: 'd', config, data: {}, now })

describe('delay', () => {
  test('waits for a length of time or until a time, and asks nobody', () => {
    expect(asked({ for: 'PT2H' })).toEqual({ signal: null, dueAt: new Date('2026-01-01T02:00:00Z') })
    expect(asked({ until: '2026-01-02T00:00:00+01:00' })).toEqual({
      signal: null,
      dueAt: new Date('2026-01-01T23:00:00Z'),
    })
  })

  test('does not wait for a time that has passed', () => {
    expect(asked({ for: 'PT0S' })).toEqual({ output: {} })
    expect(asked({ until: '2025-12-31T00:00:00Z' })).toEqual({ output: {} })
  })

  test('fails for a text that is not a time or has no zone', () => {
    for (const until of ['soon', '2026-01-02', '2026-01-02T00:00:00', '2026-13-02T00:00:00Z', '2026-00-02T00:00:00Z'])
      expect(() => asked({ until }), until).toThrow('is not a time')
    expect(() => asked({ for: 'two hours' })).toThrow('is not a duration')
  })

  test('fails for a day that there is not, instead of waiting for another one', () => {
    for (const until of [
      '2027-02-31T00:00:00Z',
      '2027-04-31T00:00:00Z',
      '2027-02-29T12:00:00+02:00',
      '2027-2-31T00:00:00Z',
    ])
      expect(() => asked({ until }), until).toThrow('is not a time')
    expect(asked({ until: '2028-02-29T00:00:00Z' })).toMatchObject({ dueAt: new Date('2028-02-29T00:00:00Z') })
  })

  test('is given one of the two', () => {
    expect(check?.({})).toHaveLength(1)
    expect(check?.({ for: 'PT1S', until: '${x}' })).toHaveLength(1)
    expect(check?.({ for: 'PT1S' })).toEqual([])
    expect(delay.config.safeParse({ for: '2 hours' }).success).toBe(false)
    expect(delay.config.safeParse({ for: '${wait}' }).success).toBe(true)
  })
})
