import { addTo, percentile, type Spread } from './buckets'
import type { AgentCount, RunCount, WaitCount } from './read-counts'
import type { WaitingCount } from './waiting'

/** Figures of ended runs. Durations are in ms, and null without runs. */
export interface Figures {
  succeeded: number
  failed: number
  /** Cancelled or terminated. */
  stopped: number
  /** The median duration of successful runs. */
  p50: number | null
  /** Their 95th percentile. */
  p95: number | null
}

/**
 * How long people's tasks waited for an answer, and how many are waiting now. Times are in ms, and null without
 * answers.
 */
export interface Waits {
  answers: number
  p50: number | null
  p95: number | null
  waiting: number
}

/** Sums over calls of models. */
export interface CallSums {
  count: number
  inputTokens: number
  outputTokens: number
  cost: number
}

/** What agents have used. */
export interface Spent {
  /** Answers in the runs of a workflow; in the whole workspace, calls of models. */
  count: number
  inputTokens: number
  outputTokens: number
  /** In US dollars; null if no price is known. */
  cost: number | null
  /** Answers of models without a price, which `cost` excludes. Of calls it is not known: 0. */
  unpriced: number
}

export function figuresOf(rows: readonly RunCount[]): Figures {
  const spread: Spread = new Map()
  const counts = { succeeded: 0, failed: 0, stopped: 0 }
  for (const { outcome, bucket, runs, longest } of rows) {
    if (outcome === 'succeeded') addTo(spread, bucket, runs, longest)
    const kind =
      outcome === 'succeeded' ? 'succeeded' : outcome === 'failed' || outcome === 'timed_out' ? 'failed' : 'stopped'
    counts[kind] += runs
  }
  return { ...counts, p50: percentile(spread, 0.5), p95: percentile(spread, 0.95) }
}

export function waitsOf(
  answered: readonly Pick<WaitCount, 'bucket' | 'answers' | 'longest'>[],
  waiting: readonly Pick<WaitingCount, 'count'>[],
): Waits {
  const spread: Spread = new Map()
  for (const { bucket, answers, longest } of answered) addTo(spread, bucket, answers, longest)
  return {
    answers: sum(answered, ({ answers }) => answers),
    p50: percentile(spread, 0.5),
    p95: percentile(spread, 0.95),
    waiting: sum(waiting, ({ count }) => count),
  }
}

/** Of answers in runs. */
export function spentOf(rows: readonly AgentCount[]): Spent {
  const [answers, priced] = [sum(rows, (row) => row.answers), sum(rows, (row) => row.priced)]
  const cost = sum(rows, (row) => row.cost)
  return {
    count: answers,
    inputTokens: sum(rows, (row) => row.inputTokens),
    outputTokens: sum(rows, (row) => row.outputTokens),
    // Failed turns cost something, although they are no answers.
    cost: priced === 0 && cost === 0 ? null : cost,
    unpriced: answers - priced,
  }
}

/** Of calls of models. */
export function spentIn(rows: readonly CallSums[]): Spent {
  const cost = sum(rows, (row) => row.cost)
  return {
    count: sum(rows, (row) => row.count),
    inputTokens: sum(rows, (row) => row.inputTokens),
    outputTokens: sum(rows, (row) => row.outputTokens),
    cost: cost === 0 ? null : cost,
    unpriced: 0,
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
