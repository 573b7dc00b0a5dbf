import { expect, test } from 'vitest'
import { absoluteTime, durationText, passedText, relativeTime } from '@/app/_ui/time-text'

const NOW = Date.parse('2026-12-01T12:00:00.000Z')
const S = 1_000
const H = 3_600 * S
const relative = (ms: number) => relativeTime(new Date(NOW + ms), NOW).replaceAll('\u00a0', ' ')

test('a time is shown in the units of a duration', () => {
  expect([0, -30 * S, 10 * S].map(relative)).toEqual(['just now', 'just now', 'in a moment'])
  expect([-4 * 60 * S, -7 * H, -49 * H, 3 * H].map(relative)).toEqual(['4 m ago', '7 h ago', '2 d ago', 'in 3 h'])
  expect(relative(-22 * 24 * H - 18 * 24 * H)).toBe('22 Oct 2026')
})

test('no line breaks between a number and its unit', () => {
  const durations = [424, 1_200, 242 * S, 3 * H, 292 * H].map(durationText)
  expect(durations.join()).not.toContain(' ')
  expect(durations.map((text) => text.replaceAll('\u00a0', ' '))).toEqual([
    '424 ms',
    '1.2 s',
    '4 m 02 s',
    '3 h 00 m',
    '12 d 4 h',
  ])
})

test('ongoing work shows whole seconds, and no time before it began', () => {
  const passed = [-40, 999, 33_999, 242 * S].map((ms) => passedText(ms).replaceAll('\u00a0', ' '))
  expect(passed).toEqual(['0 s', '0 s', '33 s', '4 m 02 s'])
})

test('a day has no leading zero', () => {
  expect(absoluteTime(new Date(NOW), 'UTC', false)).toBe('1 Dec 2026, 12:00:00 UTC')
})
