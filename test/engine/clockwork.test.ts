import { createHmac } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { parseRetryAfter, serverRetryDelayMs } from '@/inngest/engine/backoff'
import { parseDuration, parseInstant } from '@/inngest/engine/durations'
import { newId, seededId } from '@/inngest/engine/ids'
import { canonicalJson, signature } from '@/inngest/engine/sign'

describe('durations', () => {
  test.each([
    ['1s', 1000],
    ['2h30m10s', 9_010_000],
    ['1w', 604_800_000],
    ['500ms', 500],
    ['1.5h', 5_400_000],
  ])('%s', (text, ms) => expect(parseDuration(text)).toBe(ms))

  test.each(['', 's', '1', '1y', '-1s', '1s later'])('%j is none', (text) => {
    expect(parseDuration(text)).toBeUndefined()
  })

  test('dates are distinguished from durations', () => {
    expect(parseInstant('2026-01-01T00:00:00.000Z')?.getTime()).toBe(Date.UTC(2026, 0, 1))
    expect(parseInstant('1d')).toBeUndefined()
    expect(parseInstant('2026-13-01T00:00:00Z')).toBeUndefined()
  })
})

describe('retry delays', () => {
  test('match the server: longer with each attempt, spread over half a minute', () => {
    const bases = [15, 30, 60, 120, 300, 600, 1200, 2400, 3600, 7200, 7200]
    for (const [attempt, base] of bases.entries()) {
      const ms = serverRetryDelayMs(attempt)
      expect(ms).toBeGreaterThanOrEqual(base * 1000)
      expect(ms).toBeLessThan((base + 30) * 1000)
    }
  })

  test('retry-after is clamped between one second and one day', () => {
    const now = Date.UTC(2026, 0, 1)
    expect(parseRetryAfter('30', now)).toBe(30_000)
    expect(parseRetryAfter('0', now)).toBe(1000)
    expect(parseRetryAfter('999999', now)).toBe(86_400_000)
    expect(parseRetryAfter('2026-01-01T00:01:00Z', now)).toBe(60_000)
    expect(parseRetryAfter('soon', now)).toBeUndefined()
    expect(parseRetryAfter(undefined, now)).toBeUndefined()
  })
})

describe('ids', () => {
  test('a retried send makes the same ids, another send different ones', () => {
    expect(seededId('1700000000000,abc', 0, 1)).toBe(seededId('1700000000000,abc', 0, 2))
    expect(seededId('1700000000000,abc', 0, 1)).not.toBe(seededId('1700000000000,abc', 1, 1))
    expect(seededId('nonsense', 0, 1)).toHaveLength(26)
  })

  test('ids are ULIDs in chronological order', () => {
    expect(newId(1000) < newId(2000)).toBe(true)
    expect(newId(Date.now())).toMatch(/^[0-9A-HJKMNP-TV-Z]{26}$/)
  })
})

describe('signatures', () => {
  test('canonical JSON sorts keys and drops the same values as JSON', () => {
    expect(canonicalJson({ b: [1, { d: undefined, c: 'é\n' }], a: null })).toBe('{"a":null,"b":[1,{"c":"é\\n"}]}')
  })

  test('the key is used without its prefix', () => {
    const mac = createHmac('sha256', 'abc').update('{"a":1}100').digest('hex')
    expect(signature('signkey-test-abc', { a: 1 }, 100_999)).toBe(`t=100&s=${mac}`)
  })
})
