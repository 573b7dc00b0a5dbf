const UNITS: Record<string, number> = {
  w: 604_800_000,
  d: 86_400_000,
  h: 3_600_000,
  m: 60_000,
  s: 1000,
  ms: 1,
}

/** The longest sleep or wait, as on the real server. */
export const LONGEST_MS = 366 * 86_400_000

/** `1h30m` in milliseconds. Undefined if the text is not a duration. */
export function parseDuration(text: string): number | undefined {
  if (!/^(\d+(?:\.\d+)?(?:ms|w|d|h|m|s))+$/.test(text)) return undefined
  let total = 0
  for (const [, amount, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ms|w|d|h|m|s)/g)) {
    total += Number(amount) * (UNITS[unit ?? ''] ?? 0)
  }
  return total
}

/** The time of an ISO date; undefined if it is none. */
export function parseInstant(text: string): Date | undefined {
  if (!/^\d{4}-\d{2}-\d{2}T/.test(text)) return undefined
  const at = new Date(text)
  return Number.isNaN(at.getTime()) ? undefined : at
}
