import { CronError, parseCron } from '@/lib/cron'

/** The days of a week as cron names them, Monday first. */
export const WEEKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const
export type Weekday = (typeof WEEKDAYS)[number]
const WORKING: readonly Weekday[] = ['mon', 'tue', 'wed', 'thu', 'fri']

/** The even parts of a day: cron starts again at midnight, so others would not come every n hours. */
export const HOURLY = [1, 2, 3, 4, 6, 8, 12] as const

/** A schedule as people say it. `at` is a time such as `09:00`. */
export type SimplePlan =
  | { every: 'day'; at: string }
  | { every: 'weekday'; at: string }
  | { every: 'chosen'; on: readonly Weekday[]; at: string }
  | { every: 'month'; day: number; at: string }
  | { every: 'hours'; hours: (typeof HOURLY)[number]; minute: number }

/** The plan as cron; null if a time is incomplete or no day is chosen. */
export function cronOf(plan: SimplePlan): string | null {
  if (plan.every === 'hours') {
    if (!isWithin(plan.minute, 0, 59)) return null
    return `${plan.minute} ${plan.hours === 1 ? '*' : `*/${plan.hours}`} * * *`
  }
  const time = /^(\d{1,2}):(\d{2})$/.exec(plan.at)
  const [hour, minute] = [Number(time?.[1]), Number(time?.[2])]
  if (!isWithin(hour, 0, 23) || !isWithin(minute, 0, 59)) return null
  const at = `${minute} ${hour}`
  if (plan.every === 'day') return `${at} * * *`
  if (plan.every === 'weekday') return `${at} * * mon-fri`
  if (plan.every === 'month') return isWithin(plan.day, 1, 31) ? `${at} ${plan.day} * *` : null
  const on = WEEKDAYS.filter((day) => plan.on.includes(day))
  return on.length === 0 ? null : `${at} * * ${on.join(',')}`
}

/** The plan that means the same as a cron, however that is written; null if people say it in no such way. */
export function planOf(source: string): SimplePlan | null {
  let cron: ReturnType<typeof parseCron>
  try {
    cron = parseCron(source)
  } catch (err) {
    if (err instanceof CronError) return null
    throw err
  }
  const { minutes, hours, days, months, weekdays, everyHour, eitherDay } = cron
  const [minute = 0] = minutes
  const [hour = 0] = hours
  const everyDay = days.size === 31 && weekdays.size === 7
  if (minutes.length !== 1 || months.size !== 12) return null
  if (hours.length > 1) {
    const step = HOURLY.find((each) => each === 24 / hours.length)
    // Where clocks change, only `*` continues evenly.
    if (step === undefined || !everyDay || !everyHour || hours.some((one, index) => one !== index * step)) return null
    return { every: 'hours', hours: step, minute }
  }
  // `*/24` comes once a day, but follows elapsed time.
  if (everyHour) return null
  const at = `${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`
  if (everyDay) return { every: 'day', at }
  if (days.size === 31) {
    // Both day fields are restricted, but one of them names every day: then every day matches.
    if (eitherDay) return { every: 'day', at }
    const on = WEEKDAYS.filter((_, index) => weekdays.has((index + 1) % 7))
    const working = on.length === WORKING.length && on.every((day) => WORKING.includes(day))
    return working ? { every: 'weekday', at } : { every: 'chosen', on, at }
  }
  const [day = 1] = days
  return days.size === 1 && weekdays.size === 7 && !eitherDay ? { every: 'month', day, at } : null
}

const isWithin = (value: number, low: number, high: number) => Number.isInteger(value) && value >= low && value <= high
