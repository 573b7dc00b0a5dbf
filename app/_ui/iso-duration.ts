import { durationText } from '@/server/definition/duration'

/** The units of a duration in ISO 8601. The length of a month or a year differs. */
export const ISO_UNITS = [
  { value: 's', label: 'seconds', ms: 1_000 },
  { value: 'min', label: 'minutes', ms: 60_000 },
  { value: 'h', label: 'hours', ms: 3_600_000 },
  { value: 'd', label: 'days', ms: 86_400_000 },
  { value: 'w', label: 'weeks', ms: 604_800_000 },
  { value: 'mo', label: 'months', ms: null },
  { value: 'y', label: 'years', ms: null },
] as const
export type IsoUnit = (typeof ISO_UNITS)[number]['value']

const DATES = { Y: 'y', M: 'mo', W: 'w', D: 'd' } as const
const TIMES = { H: 'h', M: 'min', S: 's' } as const

/** A duration as one number and unit; null for others, such as `P1DT2H` or a text with `${…}`. */
export function readIso(text: string): { count: string; unit: IsoUnit } | null {
  const [, date, dateUnit, time, timeUnit] =
    /^P(?:(\d{1,9})([YMWD])|T(\d{1,9}(?:\.\d{1,3}(?=S))?)([HMS]))$/.exec(text) ?? []
  if (date !== undefined) return { count: String(Number(date)), unit: DATES[dateUnit as keyof typeof DATES] }
  if (time !== undefined) return { count: String(Number(time)), unit: TIMES[timeUnit as keyof typeof TIMES] }
  return null
}

/**
 * A number and unit as ISO 8601; undefined for a text without digits. A fraction becomes a whole number of a smaller
 * unit, but whole months or years.
 */
export function writeIso(count: string, unit: IsoUnit): string | undefined {
  if (!/\d/.test(count)) return undefined
  const number = Number(count)
  const ms = ISO_UNITS.find(({ value }) => value === unit)?.ms ?? null
  if (ms !== null && !Number.isInteger(number)) return durationText(Math.round(number * ms))
  const whole = ms === null ? Math.round(number) : number
  const date = Object.entries(DATES).find(([, value]) => value === unit)
  if (date) return `P${whole}${date[0]}`
  const time = Object.entries(TIMES).find(([, value]) => value === unit)
  return `PT${whole}${time?.[0]}`
}
