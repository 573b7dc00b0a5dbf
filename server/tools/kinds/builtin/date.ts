import { z } from 'zod'
import { dayExists } from '../../../definition/calendar'
import { CannotDo, computing, need } from './define'

const UNITS = {
  milliseconds: 1,
  seconds: 1_000,
  minutes: 60_000,
  hours: 3_600_000,
  days: 86_400_000,
  weeks: 604_800_000,
}
const amount = (what: string) =>
  z.number().int().min(-1_000_000_000).max(1_000_000_000).optional().describe(`add: ${what}`)

export const DateArgs = z.object({
  operation: z.enum(['now', 'add', 'format', 'diff']),
  date: z
    .union([z.string().max(100), z.number()])
    .optional()
    .describe('add, format: ISO 8601, such as 2026-11-20 or 2026-11-20T08:00:00Z, or milliseconds since 1970'),
  years: amount('calendar years; a day the month does not have becomes its last day'),
  months: amount('calendar months; a day the month does not have becomes its last day'),
  weeks: amount('weeks'),
  days: amount('days'),
  hours: amount('hours'),
  minutes: amount('minutes'),
  seconds: amount('seconds'),
  format: z
    .string()
    .max(200)
    .default("yyyy-MM-dd'T'HH:mm:ss")
    .describe("format: yyyy MM dd HH mm ss SSS, MMMM or MMM, EEEE or EEE, h, a, XXX (offset); other text in 'quotes'"),
  timeZone: z.string().max(100).default('UTC').describe('format: IANA name, such as Europe/Berlin'),
  locale: z.string().max(50).default('en').describe('format: language of month and day names'),
  from: z
    .union([z.string().max(100), z.number()])
    .optional()
    .describe('diff: the earlier date'),
  to: z
    .union([z.string().max(100), z.number()])
    .optional()
    .describe('diff: the later date'),
  unit: z
    .enum(['milliseconds', 'seconds', 'minutes', 'hours', 'days', 'weeks'])
    .default('days')
    .describe('diff: unit of the result, which may have a fraction'),
})

type Args = z.output<typeof DateArgs>

export const dateTool = computing(DateArgs, (args, ctx) => {
  switch (args.operation) {
    case 'now':
      return ctx.now().toISOString()
    case 'add':
      return iso(add(read(need(args.date, 'date', 'add'), 'date'), args))
    case 'format':
      return format(read(need(args.date, 'date', 'format'), 'date'), args)
    case 'diff': {
      const [from, to] = [need(args.from, 'from', 'diff'), need(args.to, 'to', 'diff')]
      return (read(to, 'to').getTime() - read(from, 'from').getTime()) / UNITS[args.unit]
    }
  }
})

const ISO = /^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}([.,]\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})?)?$/i

/** Without an offset the time is UTC, wherever this server is. */
function read(value: string | number, name: string): Date {
  const wrong = () => new CannotDo(`${name} is not a date such as 2026-11-20 or 2026-11-20T08:00:00Z.`)
  if (typeof value === 'number') return valid(new Date(value), wrong)
  const text = value.trim().replace(' ', 'T').replace(',', '.').toUpperCase()
  if (!ISO.test(text)) throw wrong()
  const zoned = !text.includes('T') || /(Z|[+-]\d{2}:?\d{2})$/.test(text) ? text : `${text}Z`
  const date = valid(new Date(zoned.replace(/([+-]\d{2})(\d{2})$/, '$1:$2')), wrong)
  if (!dayExists(Number(text.slice(0, 4)), Number(text.slice(5, 7)), Number(text.slice(8, 10)))) throw wrong()
  return date
}

function valid(date: Date, wrong: () => Error): Date {
  if (Number.isNaN(date.getTime())) throw wrong()
  return date
}

function iso(date: Date): string {
  return valid(date, () => new CannotDo('The result is not a valid date.')).toISOString()
}

function add(date: Date, args: Args): Date {
  const { years = 0, months = 0, weeks = 0, days = 0, hours = 0, minutes = 0, seconds = 0 } = args
  const moved = new Date(date)
  const day = moved.getUTCDate()
  moved.setUTCDate(1)
  moved.setUTCMonth(moved.getUTCMonth() + years * 12 + months)
  const last = new Date(Date.UTC(moved.getUTCFullYear(), moved.getUTCMonth() + 1, 0)).getUTCDate()
  moved.setUTCDate(Math.min(day, last))
  const rest = weeks * UNITS.weeks + days * UNITS.days + hours * UNITS.hours + minutes * UNITS.minutes
  return new Date(moved.getTime() + rest + seconds * UNITS.seconds)
}

const TOKEN = /'([^']*)'|yyyy|MMMM|MMM|MM|M|dd|d|HH|H|hh|h|mm|m|ss|s|SSS|EEEE|EEE|a|XXX/g

function format(date: Date, { format: pattern, timeZone, locale }: Args): string {
  const part = (options: Intl.DateTimeFormatOptions, type: Intl.DateTimeFormatPartTypes, language = 'en-US') => {
    const parts = formatter(language, { timeZone, ...options }).formatToParts(date)
    return parts.find((found) => found.type === type)?.value ?? ''
  }
  // Checks the time zone and the language even if the pattern uses no names.
  formatter(locale, { timeZone })
  const number = (type: 'year' | 'month' | 'day' | 'hour' | 'minute' | 'second', hourCycle: 'h23' | 'h12' = 'h23') =>
    Number(part({ [type]: 'numeric', hourCycle }, type))
  // Many languages have another form of a month's name beside a day, as in "1 марта".
  const withDay = [...pattern.matchAll(TOKEN)].some(([token]) => token === 'd' || token === 'dd')
    ? ({ day: 'numeric' } as const)
    : {}
  const padded = (value: number, length = 2) => String(value).padStart(length, '0')
  return pattern.replace(TOKEN, (token, quoted: string | undefined) => {
    if (quoted !== undefined) return quoted === '' ? "'" : quoted
    switch (token) {
      case 'yyyy':
        return padded(number('year'), 4)
      case 'MMMM':
        return part({ ...withDay, month: 'long' }, 'month', locale)
      case 'MMM': {
        const [alone, beside] = [{}, withDay].map((day) => part({ ...day, month: 'short' }, 'month', locale))
        // Some languages end it with a full stop only beside a day; the pattern says what follows.
        return alone?.endsWith('.') ? (beside ?? '') : (beside ?? '').replace(/\.$/, '')
      }
      case 'MM':
      case 'M':
        return padded(number('month'), token.length)
      case 'dd':
      case 'd':
        return padded(number('day'), token.length)
      case 'HH':
      case 'H':
        return padded(number('hour'), token.length)
      case 'hh':
      case 'h':
        return padded(number('hour', 'h12'), token.length)
      case 'mm':
      case 'm':
        return padded(number('minute'), token.length)
      case 'ss':
      case 's':
        return padded(number('second'), token.length)
      case 'SSS':
        return padded(date.getUTCMilliseconds(), 3)
      case 'EEEE':
        return part({ weekday: 'long' }, 'weekday', locale)
      case 'EEE':
        return part({ weekday: 'short' }, 'weekday', locale)
      case 'a':
        return part({ hour: 'numeric', hourCycle: 'h12' }, 'dayPeriod')
      default:
        return part({ timeZoneName: 'longOffset' }, 'timeZoneName')
          .replace(/^GMT([+-]00:00)?$/, 'Z')
          .replace('GMT', '')
    }
  })
}

function formatter(locale: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat(locale, options)
  } catch {
    throw new CannotDo(`Unknown time zone ${options.timeZone} or language ${locale}.`)
  }
}
