/** The possible lines of a logarithmic scale. */
const LINES: [ms: number, text: string][] = [
  [1, '1 ms'],
  [10, '10 ms'],
  [100, '100 ms'],
  [1_000, '1 s'],
  [10_000, '10 s'],
  [60_000, '1 m'],
  [600_000, '10 m'],
  [3_600_000, '1 h'],
  [36_000_000, '10 h'],
  [86_400_000, '1 d'],
  [864_000_000, '10 d'],
  [8_640_000_000, '100 d'],
  [86_400_000_000, '1,000 d'],
]
/** A chart on a phone fits this many labels. */
const MAX_LINES = 4

export interface Scale {
  /** From 0 for the lowest line to 1 for the highest. */
  at: (ms: number) => number
  lines: { at: number; text: string }[]
}

/** A logarithmic scale for these durations: from a line below the shortest to one above the longest. */
export function durationScale(durations: readonly number[]): Scale {
  const last = LINES.length - 1
  const below = LINES.findLastIndex(([ms]) => ms <= Math.min(...durations))
  const above = LINES.findIndex(([ms]) => ms >= Math.max(...durations))
  const first = Math.min(Math.max(0, below), last - 1)
  const top = Math.max(above === -1 ? last : above, first + 1)
  const step = Math.ceil((top - first) / (MAX_LINES - 1))
  const shown = LINES.slice(first, top + 1).filter((_, index) => index % step === 0)
  const [from, to] = [Math.log(LINES[first]?.[0] ?? 1), Math.log(LINES[top]?.[0] ?? 1)]
  const at = (ms: number) => Math.min(1, Math.max(0, (Math.log(Math.max(1, ms)) - from) / (to - from)))
  return { at, lines: shown.map(([ms, text]) => ({ at: at(ms), text })) }
}
