/** A standard cron expression in UTC: five fields with lists, ranges, steps and English names. */
export interface Cron {
  minutes: Set<number>
  hours: Set<number>
  days: Set<number>
  months: Set<number>
  weekdays: Set<number>
  /** When both day fields are restricted, either may match, as in any cron. */
  eitherDay: boolean
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']

/** Parses a cron expression. Throws an error that quotes what it cannot read. */
export function parseCron(source: string): Cron {
  const fields = source.trim().split(/\s+/)
  if (fields.length !== 5) throw new Error(`A cron needs five fields: ${source}`)
  const [minute = '', hour = '', day = '', month = '', weekday = ''] = fields
  const weekdays = field(weekday, 0, 7, WEEKDAYS, 0)
  if (weekdays.delete(7)) weekdays.add(0)
  const cron: Cron = {
    minutes: field(minute, 0, 59, [], 0),
    hours: field(hour, 0, 23, [], 0),
    days: field(day, 1, 31, [], 0),
    months: field(month, 1, 12, MONTHS, 1),
    weekdays,
    eitherDay: !day.startsWith('*') && !weekday.startsWith('*'),
  }
  if (!nextTick(cron, new Date(0))) throw new Error(`This cron never fires: ${source}`)
  return cron
}

function field(source: string, low: number, high: number, names: string[], base: number): Set<number> {
  const values = new Set<number>()
  for (const part of source.split(',')) {
    const found = /^(?:\*|(\w+)(?:-(\w+))?)(?:\/(\d+))?$/.exec(part)
    if (!found) throw new Error(`Not a cron field: ${source}`)
    const [, first, last, every] = found
    const step = every === undefined ? 1 : Number(every)
    const from = first === undefined ? low : number(first, names, base)
    const single = first !== undefined && last === undefined && every === undefined
    const to = last !== undefined ? number(last, names, base) : single ? from : high
    if (!(step >= 1 && from >= low && to <= high && from <= to)) throw new Error(`Not a cron field: ${source}`)
    for (let value = from; value <= to; value += step) values.add(value)
  }
  return values
}

function number(text: string, names: string[], base: number): number {
  const named = names.indexOf(text.toLowerCase())
  if (named >= 0) return named + base
  return /^\d+$/.test(text) ? Number(text) : Number.NaN
}

function onDay(cron: Cron, at: Date): boolean {
  if (!cron.months.has(at.getUTCMonth() + 1)) return false
  const day = cron.days.has(at.getUTCDate())
  const weekday = cron.weekdays.has(at.getUTCDay())
  return cron.eitherDay ? day || weekday : day && weekday
}

/** The first tick after the given time. Undefined when there is none within eight years (30 February). */
export function nextTick(cron: Cron, after: Date): Date | undefined {
  const day = new Date(Date.UTC(after.getUTCFullYear(), after.getUTCMonth(), after.getUTCDate()))
  for (let i = 0; i < 366 * 8 + 2; i++) {
    if (onDay(cron, day)) {
      for (const hour of [...cron.hours].sort((a, b) => a - b)) {
        for (const minute of [...cron.minutes].sort((a, b) => a - b)) {
          const tick = new Date(day.getTime() + (hour * 60 + minute) * 60_000)
          if (tick > after) return tick
        }
      }
    }
    day.setUTCDate(day.getUTCDate() + 1)
  }
  return undefined
}
