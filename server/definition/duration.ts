/** A length of time in ISO 8601, such as `PT2H` or `P1M`. */
interface Duration {
  months: number
  ms: number
}

const ISO =
  /^P(?=.)(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?=.)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d{1,3})?)S)?)?$/
const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
/** Ten years. Longer waits are more likely a mistake. */
export const LONGEST_MS = 3_660 * DAY

/** Null for a text that is no duration, or one of more than ten years. */
export function parseDuration(text: string): Duration | null {
  const match = text.length <= 50 ? ISO.exec(text) : null
  if (!match) return null
  const [years = 0, months = 0, weeks = 0, days = 0, hours = 0, minutes = 0, seconds = 0] = match
    .slice(1)
    .map((part) => Number(part ?? 0))
  const duration = {
    months: years * 12 + months,
    ms: (weeks * 7 + days) * DAY + hours * HOUR + minutes * MINUTE + Math.round(seconds * SECOND),
  }
  return duration.months * 30.5 * DAY + duration.ms <= LONGEST_MS ? duration : null
}

/** The fixed length of a duration, in milliseconds; null if it has months, whose lengths differ. */
export function durationMs(text: string): number | null {
  const duration = parseDuration(text)
  return duration === null || duration.months > 0 ? null : duration.ms
}

/** A length in ISO 8601, in the largest unit that fits, such as `P7D` or `PT90S`. */
export function durationText(ms: number): string {
  if (ms > 0 && ms % DAY === 0) return `P${ms / DAY}D`
  if (ms > 0 && ms % HOUR === 0) return `PT${ms / HOUR}H`
  if (ms > 0 && ms % MINUTE === 0) return `PT${ms / MINUTE}M`
  return `PT${ms / SECOND}S`
}

/** The time a duration after another, in UTC. A month from 31 January is the last day of February. */
export function addDuration(time: Date, { months, ms }: Duration): Date {
  const moved = new Date(time)
  if (months !== 0) {
    moved.setUTCMonth(moved.getUTCMonth() + months)
    if (moved.getUTCDate() !== time.getUTCDate()) moved.setUTCDate(0)
  }
  return new Date(moved.getTime() + ms)
}
