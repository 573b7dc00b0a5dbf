'use client'
import { useLocalStorage } from '@mantine/hooks'

/** `local` is the browser's own time zone. */
export type TimeZone = 'local' | 'UTC' | (string & {})

/** The time zone for all displayed times, stored in this browser. */
export function useTimeZone(): readonly [TimeZone, (zone: TimeZone) => void] {
  const [zone, setZone] = useLocalStorage<TimeZone>({ key: 'millrace-time-zone', defaultValue: 'local' })
  return [zone, setZone]
}

/** Always includes the zone's short name: a time without one is ambiguous. `precise` adds milliseconds. */
export function absoluteTime(date: Date, zone: TimeZone, precise: boolean): string {
  return new Intl.DateTimeFormat('en-GB', {
    year: 'numeric',
    month: 'short',
    day: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    ...(precise ? { fractionalSecondDigits: 3 as const } : {}),
    timeZoneName: 'short',
    ...(zone === 'local' ? {} : { timeZone: zone }),
  }).format(date)
}

/**
 * Short enough for a sentence: 05:31 UTC, with the day unless it is today, and the year unless it is the current one.
 */
export function clockTime(date: Date, zone: TimeZone, now: number): string {
  const timeZone = zone === 'local' ? {} : { timeZone: zone }
  const day = new Intl.DateTimeFormat('en-GB', { year: 'numeric', month: 'short', day: 'numeric', ...timeZone })
  const [thatDay, today] = [day.format(date), day.format(now)]
  const year = today.slice(-5)
  const time = new Intl.DateTimeFormat('en-GB', {
    hour: '2-digit',
    minute: '2-digit',
    timeZoneName: 'short',
    ...timeZone,
  }).format(date)
  if (thatDay === today) return time
  return `${thatDay.endsWith(year) ? thatDay.slice(0, -year.length) : thatDay}, ${time}`
}

const STEPS = [
  { unit: 'd', ms: 86_400_000 },
  { unit: 'h', ms: 3_600_000 },
  { unit: 'm', ms: 60_000 },
] as const

/** In the units of `durationText`: just now, 4 m ago, in 3 h, 2 d ago, 9 Nov 2026 */
export function relativeTime(date: Date, now: number): string {
  const elapsed = now - date.getTime()
  const step = STEPS.find(({ ms }) => Math.abs(elapsed) >= ms)
  if (!step) return elapsed < -5_000 ? 'in a moment' : 'just now'
  if (step.unit === 'd' && Math.abs(elapsed) > 30 * step.ms) {
    return new Intl.DateTimeFormat('en-GB', { year: 'numeric', month: 'short', day: 'numeric' }).format(date)
  }
  const text = together(`${Math.round(Math.abs(elapsed) / step.ms)} ${step.unit}`)
  return elapsed < 0 ? `in ${text}` : `${text} ago`
}

/** 840 ms, 1.2 s, 4 m 02 s, 3 h 05 m, 12 d 4 h, each on one line. */
export function durationText(ms: number): string {
  return together(inUnits(ms))
}

/** The same for ongoing durations, in whole seconds: tenths would change before anyone reads them. */
export function passedText(ms: number): string {
  return ms < 60_000 ? together(`${Math.max(0, Math.floor(ms / 1_000))} s`) : durationText(ms)
}

/** With non-breaking spaces. */
const together = (text: string) => text.replaceAll(' ', '\u00a0')

function inUnits(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`
  const seconds = Math.floor(ms / 1_000)
  const two = (value: number) => String(value).padStart(2, '0')
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} m ${two(seconds % 60)} s`
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)} h ${two(Math.floor((seconds % 3_600) / 60))} m`
  return `${Math.floor(seconds / 86_400)} d ${Math.floor((seconds % 86_400) / 3_600)} h`
}
