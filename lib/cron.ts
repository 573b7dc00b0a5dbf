// Our own parser: croner moves times that a clock skips to the end of the gap, reads `*/2` as a restricted day and
// accepts 30 February.

/** When something happens: five fields with lists, ranges, steps and English names, on the clock of a time zone. */
export interface Cron {
  minutes: readonly number[]
  hours: readonly number[]
  days: ReadonlySet<number>
  months: ReadonlySet<number>
  weekdays: ReadonlySet<number>
  /** When both day fields are restricted, either may match, as in any cron. */
  eitherDay: boolean
  /** It restricts no hours, so it follows elapsed time, not the local clock. */
  everyHour: boolean
}

export class CronError extends Error {
  override name = 'CronError'
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']
const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
/** A 29 February that is a Monday may be 40 years away; a day that does not occur within that span never does. */
const MAX_DAYS = 366 * 41

/** @throws CronError that names the unreadable field */
export function parseCron(source: string): Cron {
  const fields = source.trim().split(/\s+/)
  if (fields.length !== 5) throw new CronError('must have five fields: minute, hour, day, month, weekday')
  const [minute = '', hour = '', day = '', month = '', weekday = ''] = fields
  const weekdays = new Set(field('weekday', weekday, 0, 7, WEEKDAYS, 0).map((value) => value % 7))
  const cron: Cron = {
    minutes: field('minute', minute, 0, 59, [], 0),
    hours: field('hour', hour, 0, 23, [], 0),
    days: new Set(field('day', day, 1, 31, [], 0)),
    months: new Set(field('month', month, 1, 12, MONTHS, 1)),
    weekdays,
    eitherDay: !day.startsWith('*') && !weekday.startsWith('*'),
    everyHour: hour.startsWith('*'),
  }
  if (nextTime(cron, 'UTC', new Date(0)) === null) throw new CronError('names a day that never comes')
  return cron
}

function field(name: string, source: string, low: number, high: number, names: string[], base: number): number[] {
  const values = new Set<number>()
  const refuse = () => new CronError(`has a ${name} that cannot be read: ${source}`)
  for (const part of source.split(',')) {
    const found = /^(?:\*|(\w+)(?:-(\w+))?)(?:\/(\d{1,3}))?$/.exec(part)
    if (!found) throw refuse()
    const [, first, last, every] = found
    const step = every === undefined ? 1 : Number(every)
    const from = first === undefined ? low : numberOf(first, names, base)
    const single = first !== undefined && last === undefined && every === undefined
    const to = last !== undefined ? numberOf(last, names, base) : single ? from : high
    if (!(step >= 1 && from >= low && to <= high && from <= to)) throw refuse()
    for (let value = from; value <= to; value += step) values.add(value)
  }
  return [...values].sort((a, b) => a - b)
}

function numberOf(text: string, names: string[], base: number): number {
  const named = names.indexOf(text.toLowerCase())
  if (named >= 0) return named + base
  return /^\d{1,2}$/.test(text) ? Number(text) : Number.NaN
}

export function isTimeZone(text: string): boolean {
  try {
    return text !== '' && clockOf(text) !== undefined
  } catch {
    return false
  }
}

/** The first time after `after`; null if none exists. */
export function nextTime(cron: Cron, zone: string, after: Date): Date | null {
  const first = dayOf(after, zone)
  for (let i = -1; i < MAX_DAYS; i++) {
    const found = timesOn(cron, zone, first + i * DAY_MS).find((time) => time > after.getTime())
    if (found !== undefined) return new Date(found)
  }
  return null
}

export function nextTimes(cron: Cron, zone: string, after: Date, count: number): Date[] {
  const times: Date[] = []
  for (let at = nextTime(cron, zone, after); at && times.length < count; at = nextTime(cron, zone, at)) times.push(at)
  return times
}

/** The last time from `from` to `until`, both inclusive; null if none exists. */
export function lastTime(cron: Cron, zone: string, from: Date, until: Date): Date | null {
  const last = dayOf(until, zone)
  const days = Math.ceil((until.getTime() - from.getTime()) / DAY_MS) + 1
  for (let i = -1; i <= days; i++) {
    const found = timesOn(cron, zone, last - i * DAY_MS).findLast((time) => time <= until.getTime())
    if (found !== undefined) return found >= from.getTime() ? new Date(found) : null
  }
  return null
}

/**
 * The times on a day of the zone's calendar, given as midnight UTC of that date. Where clocks are set forward, a time
 * that does not exist moves later by the gap. Where they are set back, a time that occurs twice counts once; but a
 * schedule that does not restrict the hour continues evenly through both.
 */
function timesOn(cron: Cron, zone: string, day: number): number[] {
  if (!matches(cron, new Date(day))) return []
  const before = offsetAt(zone, day - DAY_MS)
  const after = offsetAt(zone, day + 2 * DAY_MS)
  const times: number[] = []
  for (const hour of cron.hours) {
    for (const minute of cron.minutes) {
      const wall = day + (hour * 60 + minute) * MINUTE_MS
      if (before === after) times.push(wall - before)
      else times.push(...atWall(cron, zone, wall, before, after))
    }
  }
  return before === after ? times : [...new Set(times)].sort((a, b) => a - b)
}

/** The moments at which local time has this value, near a change of the zone's offset. */
function atWall(cron: Cron, zone: string, wall: number, before: number, after: number): number[] {
  const shown = [wall - before, wall - after]
    .filter((time) => time + offsetAt(zone, time) === wall)
    .sort((a, b) => a - b)
  if (cron.everyHour) return shown
  return shown.length === 0 ? [wall - before] : shown.slice(0, 1)
}

function matches(cron: Cron, date: Date): boolean {
  if (!cron.months.has(date.getUTCMonth() + 1)) return false
  const day = cron.days.has(date.getUTCDate())
  const weekday = cron.weekdays.has(date.getUTCDay())
  return cron.eitherDay ? day || weekday : day && weekday
}

/** The date in a zone, as midnight UTC of that date. */
function dayOf(at: Date, zone: string): number {
  const wall = at.getTime() + offsetAt(zone, at.getTime())
  return wall - (((wall % DAY_MS) + DAY_MS) % DAY_MS)
}

const clocks = new Map<string, Intl.DateTimeFormat>()

/** @throws RangeError for an unknown zone */
function clockOf(zone: string): Intl.DateTimeFormat {
  const known = clocks.get(zone)
  if (known) return known
  const parts = { year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric' } as const
  const clock = new Intl.DateTimeFormat('en-US', { timeZone: zone, hourCycle: 'h23', second: 'numeric', ...parts })
  clocks.set(zone, clock)
  return clock
}

/** How far a zone's clock is ahead of UTC, in milliseconds. */
function offsetAt(zone: string, time: number): number {
  if (zone === 'UTC') return 0
  const whole = Math.floor(time / 1000) * 1000
  const parts = Object.fromEntries(
    clockOf(zone)
      .formatToParts(whole)
      .map(({ type, value }) => [type, Number(value)]),
  )
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts
  return Date.UTC(year, month - 1, day, hour, minute, second) - whole
}
