import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cronOf, HOURLY, planOf, type SimplePlan, WEEKDAYS } from '@/app/(dashboard)/[tenant]/schedules/simple-plan'
import { nextTimes, parseCron } from '@/lib/cron'

const two = (value: number) => String(value).padStart(2, '0')
const at = fc.tuple(fc.nat(23), fc.nat(59)).map(([hour, minute]) => `${two(hour)}:${two(minute)}`)
const plans: fc.Arbitrary<SimplePlan> = fc.oneof(
  at.map((at) => ({ every: 'day' as const, at })),
  at.map((at) => ({ every: 'weekday' as const, at })),
  fc.record({ every: fc.constant('chosen' as const), on: fc.subarray([...WEEKDAYS], { minLength: 1 }), at }),
  fc.record({ every: fc.constant('month' as const), day: fc.integer({ min: 1, max: 31 }), at }),
  fc.record({ every: fc.constant('hours' as const), hours: fc.constantFrom(...HOURLY), minute: fc.nat(59) }),
)

const START = new Date('2026-01-01T00:00:00Z')
const timesOf = (cron: string) =>
  nextTimes(parseCron(cron), 'Europe/Berlin', START, 40).map((time) => time.toISOString())

/** All seven days are every day, and Monday to Friday are the weekdays. */
function plainest(plan: SimplePlan): SimplePlan {
  if (plan.every !== 'chosen') return plan
  if (plan.on.length === 7) return { every: 'day', at: plan.at }
  return plan.on.join() === WEEKDAYS.slice(0, 5).join() ? { every: 'weekday', at: plan.at } : plan
}

describe('a schedule as people say it', () => {
  test('is read back from the cron it writes', () => {
    fc.assert(
      fc.property(plans, (plan) => {
        expect(planOf(cronOf(plan) ?? '')).toEqual(plainest(plan))
      }),
    )
  })

  test('comes when it says', () => {
    fc.assert(
      fc.property(plans, (plan) => {
        const cron = parseCron(cronOf(plan) ?? '')
        for (const time of nextTimes(cron, 'UTC', START, 10)) {
          const clock = time.toISOString().slice(11, 16)
          const weekday = WEEKDAYS[(time.getUTCDay() + 6) % 7]
          if (plan.every === 'hours') {
            expect(time.getUTCMinutes()).toBe(plan.minute)
            expect(time.getUTCHours() % plan.hours).toBe(0)
          } else expect(clock).toBe(plan.at)
          if (plan.every === 'chosen') expect(plan.on).toContain(weekday)
          if (plan.every === 'weekday') expect(['sat', 'sun']).not.toContain(weekday)
          if (plan.every === 'month') expect(time.getUTCDate()).toBe(plan.day)
        }
      }),
      { numRuns: 50 },
    )
  })

  test('is read from any cron of the same meaning, and only from those', () => {
    const part = (low: number, high: number) =>
      fc.oneof(
        fc.constant('*'),
        fc.integer({ min: low, max: high }).map(String),
        fc.constantFrom(2, 3, 4, 5, 6, 8, 12, 24).map((step) => `*/${step}`),
        fc
          .tuple(fc.integer({ min: low, max: high }), fc.integer({ min: low, max: high }))
          .map(([a, b]) => (a <= b ? `${a}-${b}` : `${b}-${a}`)),
        fc.constant(`${low}-${high}`),
      )
    const crons = fc
      .tuple(fc.nat(59).map(String), part(0, 23), part(1, 31), fc.constantFrom('*', '1', '1-12'), part(0, 6))
      .map((fields) => fields.join(' '))
    fc.assert(
      fc.property(crons, (cron) => {
        const plan = planOf(cron)
        if (plan) expect(timesOf(cronOf(plan) ?? ''), cron).toEqual(timesOf(cron))
      }),
      { numRuns: 150 },
    )
  })

  test.each([
    ['0 9 * * 1-5', { every: 'weekday', at: '09:00' }],
    ['30 7 * * *', { every: 'day', at: '07:30' }],
    ['0 9 * * sat,0', { every: 'chosen', on: ['sat', 'sun'], at: '09:00' }],
    ['15 8 31 * *', { every: 'month', day: 31, at: '08:15' }],
    ['5 */4 * * *', { every: 'hours', hours: 4, minute: 5 }],
    ['0 * * * *', { every: 'hours', hours: 1, minute: 0 }],
  ])('%s is read', (cron, plan) => expect(planOf(cron)).toEqual(plan))

  test.each([
    '*/15 * * * *',
    '0 9,17 * * *',
    '0 9 1 jan *',
    '0 9 1 * mon',
    '0 */5 * * *',
    '0 9-17 * * mon-fri',
    '',
    'no cron',
    '0 9 30 feb *',
  ])('%j stays a cron', (cron) => expect(planOf(cron)).toBeNull())

  test('is not written while it is incomplete', () => {
    expect(cronOf({ every: 'chosen', on: [], at: '09:00' })).toBeNull()
    for (const at of ['', '9', '24:00', '09:60']) expect(cronOf({ every: 'day', at })).toBeNull()
    for (const day of [0, 32, Number.NaN]) expect(cronOf({ every: 'month', day, at: '09:00' })).toBeNull()
    expect(cronOf({ every: 'hours', hours: 2, minute: 60 })).toBeNull()
  })
})
