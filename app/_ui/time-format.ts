/** `local` is the browser's own zone. */
export type ZoneChoice = 'local' | 'UTC'

function zoneOf(choice: ZoneChoice): string | undefined {
  return choice === 'UTC' ? 'UTC' : undefined
}

/** The zone as people write it, at a moment: `UTC`, `GMT+2`. */
export function zoneName(choice: ZoneChoice, at: Date = new Date()): string {
  if (choice === 'UTC') return 'UTC'
  const parts = new Intl.DateTimeFormat('en-GB', { timeZoneName: 'short' }).formatToParts(at)
  return parts.find(({ type }) => type === 'timeZoneName')?.value ?? 'local time'
}

/** Date and time of day, to the millisecond where asked. */
export function formatExact(at: Date, choice: ZoneChoice, options: { millis?: boolean } = {}): string {
  const date = new Intl.DateTimeFormat('en-GB', {
    timeZone: zoneOf(choice),
    day: 'numeric',
    month: 'short',
    year: 'numeric',
  }).format(at)
  return `${date}, ${formatClock(at, choice, options)}`
}

/** The time of day alone. */
export function formatClock(at: Date, choice: ZoneChoice, { millis = false }: { millis?: boolean } = {}): string {
  return new Intl.DateTimeFormat('en-GB', {
    timeZone: zoneOf(choice),
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    ...(millis ? { fractionalSecondDigits: 3 as const } : {}),
  }).format(at)
}

const STEPS = [
  { unit: 'second', ms: 1_000, upTo: 60_000 },
  { unit: 'minute', ms: 60_000, upTo: 3_600_000 },
  { unit: 'hour', ms: 3_600_000, upTo: 86_400_000 },
  { unit: 'day', ms: 86_400_000, upTo: 30 * 86_400_000 },
  { unit: 'month', ms: 30 * 86_400_000, upTo: 365 * 86_400_000 },
  { unit: 'year', ms: 365 * 86_400_000, upTo: Number.POSITIVE_INFINITY },
] as const

/** `4 minutes ago`, `in 2 hours`; what is nearer than ten seconds is `just now`. */
export function formatRelative(at: Date, now: number): string {
  const ms = at.getTime() - now
  if (Math.abs(ms) < 10_000) return 'just now'
  const step = STEPS.find(({ upTo }) => Math.abs(ms) < upTo) ?? STEPS[5]
  return new Intl.RelativeTimeFormat('en-GB').format(Math.trunc(ms / step.ms), step.unit)
}

/** A length of time in its two largest units: `840 ms`, `1.2 s`, `4 min 2 s`, `3 d 4 h`. */
export function formatDuration(ms: number): string {
  if (ms < 0) return '0 ms'
  if (ms < 1_000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${(Math.floor(ms / 100) / 10).toFixed(1)} s`
  const seconds = Math.floor(ms / 1_000)
  if (seconds < 3_600) return two(Math.floor(seconds / 60), 'min', seconds % 60, 's')
  const minutes = Math.floor(seconds / 60)
  if (minutes < 1_440) return two(Math.floor(minutes / 60), 'h', minutes % 60, 'min')
  const hours = Math.floor(minutes / 60)
  return two(Math.floor(hours / 24), 'd', hours % 24, 'h')
}

function two(large: number, unit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large} ${unit}` : `${large} ${unit} ${small} ${smallUnit}`
}
