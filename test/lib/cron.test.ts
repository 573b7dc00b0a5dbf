import { describe, expect, test } from 'vitest'
import { isTimeZone, lastTime, nextTimes, parseCron } from '@/lib/cron'

const next = (cron: string, zone: string, after: string, count = 3) =>
  nextTimes(parseCron(cron), zone, new Date(after), count).map((at) => at.toISOString().slice(0, 16))

describe('the next times', () => {
  test.each([
    ['*/15 9-10 * * *', 'UTC', '2026-01-05T09:50Z', ['2026-01-05T10:00', '2026-01-05T10:15', '2026-01-05T10:30']],
    ['0 9 * * mon-fri', 'UTC', '2026-01-09T09:00Z', ['2026-01-12T09:00', '2026-01-13T09:00', '2026-01-14T09:00']],
    ['0 0 1,15 * *', 'UTC', '2026-01-31T12:00Z', ['2026-02-01T00:00', '2026-02-15T00:00', '2026-03-01T00:00']],
    // Both day fields: either.
    ['0 0 13 * 5', 'UTC', '2026-02-01T00:00Z', ['2026-02-06T00:00', '2026-02-13T00:00', '2026-02-20T00:00']],
    ['0 0 * * 7', 'UTC', '2026-01-01T00:00Z', ['2026-01-04T00:00', '2026-01-11T00:00', '2026-01-18T00:00']],
    ['5,10-11 3 * JAN,jun *', 'UTC', '2026-01-31T03:10Z', ['2026-01-31T03:11', '2026-06-01T03:05', '2026-06-01T03:10']],
    ['10/20 * * * *', 'UTC', '2026-01-01T00:11Z', ['2026-01-01T00:30', '2026-01-01T00:50', '2026-01-01T01:10']],
    // A moment within the minute.
    ['* * * * *', 'UTC', '2026-01-01T00:00:30Z', ['2026-01-01T00:01', '2026-01-01T00:02', '2026-01-01T00:03']],
    ['0 0 29 2 *', 'UTC', '2026-01-01T00:00Z', ['2028-02-29T00:00', '2032-02-29T00:00', '2036-02-29T00:00']],
    // The date of the zone, not of UTC.
    [
      '30 0 1 * *',
      'Pacific/Auckland',
      '2026-06-01T00:00Z',
      ['2026-06-30T12:30', '2026-07-31T12:30', '2026-08-31T12:30'],
    ],
    ['0 9 * * *', 'Asia/Kolkata', '2026-01-05T03:30Z', ['2026-01-06T03:30', '2026-01-07T03:30', '2026-01-08T03:30']],
  ])('%s in %s after %s', (cron, zone, after, times) => {
    expect(next(cron, zone, after)).toEqual(times)
  })

  test('nine o’clock stays nine o’clock when clocks change', () => {
    expect(next('0 9 * * *', 'Europe/Berlin', '2026-03-28T00:00Z')).toEqual([
      '2026-03-28T08:00',
      '2026-03-29T07:00',
      '2026-03-30T07:00',
    ])
  })

  test('a time that does not exist comes an hour later, once', () => {
    expect(next('30 2 * * *', 'Europe/Berlin', '2026-03-28T02:00Z')).toEqual([
      '2026-03-29T01:30',
      '2026-03-30T00:30',
      '2026-03-31T00:30',
    ])
    expect(next('30 2,3 29 3 *', 'Europe/Berlin', '2026-03-01T00:00Z', 1)).toEqual(['2026-03-29T01:30'])
  })

  test('a time that comes twice counts once', () => {
    expect(next('30 2 * * *', 'Europe/Berlin', '2026-10-24T12:00Z', 2)).toEqual([
      '2026-10-25T00:30',
      '2026-10-26T01:30',
    ])
  })

  test('a schedule that does not restrict the hour continues evenly through both changes', () => {
    for (const after of ['2026-03-28T22:00Z', '2026-10-24T22:00Z']) {
      const times = nextTimes(parseCron('*/20 * * * *'), 'America/New_York', new Date(after), 300)
      const gaps = times.slice(1).map((at, i) => at.getTime() - (times[i]?.getTime() ?? 0))
      expect(new Set(gaps)).toEqual(new Set([20 * 60_000]))
    }
    const berlin = nextTimes(parseCron('0 * * * *'), 'Europe/Berlin', new Date('2026-10-24T20:00Z'), 8)
    expect(new Set(berlin.map((at) => at.getTime())).size).toBe(8)
    expect((berlin[7]?.getTime() ?? 0) - (berlin[0]?.getTime() ?? 0)).toBe(7 * 3_600_000)
  })
})

test.each(['Europe/Berlin', 'America/St_Johns', 'Australia/Lord_Howe', 'UTC'])(
  'each time in %s follows the one before, and the last one before a moment is one of them',
  (zone) => {
    for (const source of ['7 */3 * * *', '*/30 1-3 * * *', '0 12 * * sun']) {
      const cron = parseCron(source)
      const from = new Date('2026-01-01T00:00Z')
      const times = nextTimes(cron, zone, from, 400)
      for (const [i, at] of times.entries()) {
        const later = times[i + 1]
        if (!later) break
        expect(later.getTime()).toBeGreaterThan(at.getTime())
        expect(lastTime(cron, zone, from, new Date(later.getTime() - 1))).toEqual(at)
        expect(lastTime(cron, zone, later, later)).toEqual(later)
      }
    }
  },
)

test.each([
  ['* * * *', 'five fields'],
  ['* * * * * *', 'five fields'],
  ['@daily', 'five fields'],
  ['TZ=Europe/Paris 0 * * * *', 'five fields'],
  ['a * * * *', 'minute'],
  ['1- * * * *', 'minute'],
  ['60 * * * *', 'minute'],
  ['* 24 * * *', 'hour'],
  ['* * 0 * *', 'day'],
  ['* * * 13 *', 'month'],
  ['* * * * funday', 'weekday'],
  ['*/0 * * * *', 'minute'],
  ['5-1 * * * *', 'minute'],
  ['0 0 30 2 *', 'never comes'],
])('%s is refused: %s', (cron, reason) => {
  expect(() => parseCron(cron)).toThrow(reason)
})

test('time zones are those of the IANA database', () => {
  expect(['UTC', 'Europe/Berlin', 'Mars/Olympus', ''].map(isTimeZone)).toEqual([true, true, false, false])
})
