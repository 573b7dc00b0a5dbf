import { addTo, percentile, type Spread } from './buckets'
import type { AgentCount, RunCount, WaitCount } from './read-counts'
import type { WaitingCount } from './waiting'

/** Figures of runs that ended. Durations are in ms, and null without runs. */
export interface Figures {
  succeeded: number
  failed: number
  /** Cancelled or terminated. */
  stopped: number
  /** Half of the runs that succeeded took at most so long, and ... */
  p50: number | null
  /** ... nineteen of twenty. */
  p95: number | null
}

/** How long people's tasks waited for an answer, and how many wait now. Times are in ms, and null without answers. */
export interface Waits {
  answers: number
  p50: number | null
  p95: number | null
  waiting: number
}

/** What agents answered. */
export interface Spent {
  answers: number
  inputTokens: number
  outputTokens: number
  /** In the currency of the models' prices; null if no model that answered has any. */
  cost: number | null
  /** Answers of models without prices: the cost does not contain them. */
  unpriced: number
}

export function figuresOf(rows: readonly RunCount[]): Figures {
  const spread: Spread = new Map()
  const counts = { succeeded: 0, failed: 0, stopped: 0 }
  for (const { outcome, bucket, runs } of rows) {
    if (outcome === 'succeeded') addTo(spread, bucket, runs)
    const kind =
      outcome === 'succeeded' ? 'succeeded' : outcome === 'failed' || outcome === 'timed_out' ? 'failed' : 'stopped'
    counts[kind] += runs
  }
  return { ...counts, p50: percentile(spread, 0.5), p95: percentile(spread, 0.95) }
}

export function waitsOf(
  answered: readonly Pick<WaitCount, 'bucket' | 'answers'>[],
  waiting: readonly Pick<WaitingCount, 'count'>[],
): Waits {
  const spread: Spread = new Map()
  for (const { bucket, answers } of answered) addTo(spread, bucket, answers)
  return {
    answers: sum(answered, ({ answers }) => answers),
    p50: percentile(spread, 0.5),
    p95: percentile(spread, 0.95),
    waiting: sum(waiting, ({ count }) => count),
  }
}

export function spentOf(rows: readonly AgentCount[]): Spent {
  const [answers, priced] = [sum(rows, (row) => row.answers), sum(rows, (row) => row.priced)]
  const cost = sum(rows, (row) => row.cost)
  return {
    answers,
    inputTokens: sum(rows, (row) => row.inputTokens),
    outputTokens: sum(rows, (row) => row.outputTokens),
    // Turns that failed cost something, although they are no answers.
    cost: priced === 0 && cost === 0 ? null : cost,
    unpriced: answers - priced,
  }
}

function sum<T>(rows: readonly T[], value: (row: T) => number): number {
  return rows.reduce((total, row) => total + value(row), 0)
}

export function groupBy<T>(rows: readonly T[], key: (row: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const row of rows) {
    const group = groups.get(key(row))
    if (group) group.push(row)
    else groups.set(key(row), [row])
  }
  return groups
}
