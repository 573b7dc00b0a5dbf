import { type Cron, parseCron } from '@/lib/cron'
import { listed } from '@/lib/listed'

const WEEKDAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun']
const LONG_WEEKDAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday']
const MONTHS = 'January February March April May June July August September October November December'.split(' ')
/** Above this, the cron is easier to read than the words. */
const MAX_LISTED = 4

/** A cron in words, such as `Mon–Fri at 09:00`; null for an invalid one or one without short words. */
export function cronText(source: string): string | null {
  let cron: Cron
  try {
    cron = parseCron(source)
  } catch {
    return null
  }
  const days = daysText(cron)
  const times = timesText(cron)
  if (days === null || times === null) return null
  if (times.startsWith('at ')) return `${days || 'Every day'} ${times}`
  return days ? `${days}, ${times}` : times.charAt(0).toUpperCase() + times.slice(1)
}

/** The days; empty for all of them. */
function daysText({ days, months, weekdays }: Cron): string | null {
  const everyDay = days.size === 31
  const everyMonth = months.size === 12
  if (weekdays.size < 7) return everyDay && everyMonth ? weekdaysText(weekdays) : null
  if (everyDay) return everyMonth ? '' : null
  if (days.size > MAX_LISTED || (months.size > MAX_LISTED && !everyMonth)) return null
  const named = [...months].sort((a, b) => a - b).map((month) => MONTHS[month - 1] ?? '')
  const numbered = [...days].sort((a, b) => a - b).map(ordinal)
  return `On the ${listed(numbered)} of ${everyMonth ? 'each month' : listed(named)}`
}

function weekdaysText(weekdays: ReadonlySet<number>): string {
  // A week starts on Monday, so that a weekend is not split.
  const places = [...weekdays].map((day) => (day + 6) % 7).sort((a, b) => a - b)
  const [first = 0] = places
  if (places.length === 1) return `Every ${LONG_WEEKDAYS[first]}`
  const runs: number[][] = []
  for (const place of places) {
    const run = runs.at(-1)
    if (run?.at(-1) === place - 1) run.push(place)
    else runs.push([place])
  }
  const name = (place: number | undefined) => WEEKDAYS[place ?? 0] ?? ''
  return listed(runs.flatMap((run) => (run.length > 2 ? `${name(run[0])}–${name(run.at(-1))}` : run.map(name))))
}

/** The times of a day: fixed times (`at`), or an interval. */
function timesText({ minutes, hours }: Cron): string | null {
  const everyMinutes = stepOf(minutes, 60)
  const everyHours = stepOf(hours, 24)
  const [minute = 0] = minutes
  const [from = 0] = hours
  const to = hours.at(-1) ?? from
  const last = clock(to, minutes.at(-1) ?? 0)
  if (everyMinutes !== null && everyHours === 1) return `every ${counted(everyMinutes, 'minute')}`
  if (minutes.length === 1 && everyHours === 1) return `hourly at :${two(minute)}`
  if (minutes.length * hours.length <= MAX_LISTED) {
    return `at ${listed(hours.flatMap((hour) => minutes.map((one) => clock(hour, one))))}`
  }
  if (minutes.length === 1 && everyHours !== null) return `every ${everyHours} hours from ${clock(from, minute)}`
  if (to - from !== hours.length - 1) return null
  if (minutes.length === 1) return `hourly from ${clock(from, minute)} to ${last}`
  return everyMinutes === null
    ? null
    : `every ${counted(everyMinutes, 'minute')} from ${clock(from, minute)} to ${last}`
}

/** The step of several values that repeat evenly from 0; null for others. */
function stepOf(values: readonly number[], all: number): number | null {
  const step = all / values.length
  return values.length > 1 && values.every((value, index) => value === index * step) ? step : null
}

const counted = (count: number, unit: string) => (count === 1 ? unit : `${count} ${unit}s`)

const two = (value: number) => String(value).padStart(2, '0')
const clock = (hour: number, minute: number) => `${two(hour)}:${two(minute)}`

function ordinal(day: number): string {
  const ending = day > 10 && day < 14 ? undefined : ({ 1: 'st', 2: 'nd', 3: 'rd' } as const)[day % 10]
  return `${day}${ending ?? 'th'}`
}
