const SECOND = 1000
const MINUTE = 60 * SECOND
const CURVE = [
  15 * SECOND,
  30 * SECOND,
  MINUTE,
  2 * MINUTE,
  5 * MINUTE,
  10 * MINUTE,
  20 * MINUTE,
  40 * MINUTE,
  60 * MINUTE,
  120 * MINUTE,
]

/** How long the real server waits after an attempt (counted from 0), including jitter. */
export function serverRetryDelayMs(attempt: number): number {
  const base = CURVE[Math.min(attempt, CURVE.length - 1)] ?? MINUTE
  return base + Math.floor(Math.random() * 30 * SECOND)
}

/** The `retry-after` header in milliseconds, between one second and one day. Undefined if unreadable. */
export function parseRetryAfter(header: string | undefined, now: number): number | undefined {
  if (!header) return undefined
  const seconds = Number(header)
  const ms = Number.isFinite(seconds) ? seconds * SECOND : new Date(header).getTime() - now
  if (!Number.isFinite(ms)) return undefined
  return Math.min(Math.max(ms, SECOND), 24 * 60 * MINUTE)
}
