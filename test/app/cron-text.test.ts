import { expect, test } from 'vitest'
import { cronText } from '@/app/(dashboard)/[tenant]/schedules/cron-text'

test.each([
  ['* * * * *', 'Every minute'],
  ['*/15 * * * *', 'Every 15 minutes'],
  ['0,30 * * * *', 'Every 30 minutes'],
  ['0 * * * *', 'Hourly at :00'],
  ['5 * * * mon-fri', 'Mon–Fri, hourly at :05'],
  ['0 */2 * * *', 'Every 2 hours from 00:00'],
  ['0 9-17 * * mon-fri', 'Mon–Fri, hourly from 09:00 to 17:00'],
  ['*/15 9-17 * * *', 'Every 15 minutes from 09:00 to 17:45'],
  ['0 9 * * *', 'Every day at 09:00'],
  ['30 6,18 * * *', 'Every day at 06:30 and 18:30'],
  ['0 9 * * mon-fri', 'Mon–Fri at 09:00'],
  ['0 9 * * 1', 'Every Monday at 09:00'],
  ['0 9 * * 7', 'Every Sunday at 09:00'],
  ['0 9 * * 0,6', 'Sat and Sun at 09:00'],
  ['0 9 * * mon,wed,fri', 'Mon, Wed and Fri at 09:00'],
  ['0 9 * * mon-wed,sat', 'Mon–Wed and Sat at 09:00'],
  ['0 9 1 * *', 'On the 1st of each month at 09:00'],
  ['0 9 2,13,23 * *', 'On the 2nd, 13th and 23rd of each month at 09:00'],
  ['0 0 1 jan,apr,jul,oct *', 'On the 1st of January, April, July and October at 00:00'],
])('%s is %s', (cron, text) => {
  expect(cronText(cron)).toBe(text)
})

test.each([
  ['0 9 1 * mon', 'either day'],
  ['0 9 */2 * *', 'every second day'],
  ['0 9 * jan *', 'one month'],
  ['7,23,41 9,11 * * *', 'too many times'],
  ['*/7 * * * *', 'a step that does not go round'],
  ['0 8,9,10,12,13 * * *', 'hours with a gap'],
])('%s stays as it is: %s', (cron) => {
  expect(cronText(cron)).toBeNull()
})

test('an invalid cron has no words', () => {
  expect(cronText('')).toBeNull()
  expect(cronText('99 9 * * *')).toBeNull()
  expect(cronText('0 9 30 feb *')).toBeNull()
})
