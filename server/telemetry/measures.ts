import { processWide } from '@/db/process-wide'

type Labels = Readonly<Record<string, string>>

interface Measure {
  kind: 'counter' | 'gauge' | 'histogram'
  help: string
  /** The upper bounds of a histogram, in seconds. */
  buckets?: readonly number[]
}

const FAST = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]
const LONG = [0.01, 0.05, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300]

/**
 * The measures of this process, by name. No label may have values that callers choose, such as the id of a tenant or a
 * workflow: each combination of values is stored for as long as the process lives.
 */
export const MEASURES = {
  millrace_runs_started_total: { kind: 'counter', help: 'Runs that this process has started, by kind of caller.' },
  millrace_runs_ended_total: { kind: 'counter', help: 'Runs that this process has ended, by outcome.' },
  millrace_step_duration_seconds: {
    kind: 'histogram',
    help: 'How long attempts of steps that do work took, in seconds, by type of step and result.',
    buckets: LONG,
  },
  millrace_step_failures_total: {
    kind: 'counter',
    help: 'Failed attempts of steps that do work, by type of step and class of failure.',
  },
  millrace_step_busy_total: {
    kind: 'counter',
    help: 'Attempts of steps that found no free slot and are made again later, by type of step.',
  },
  millrace_http_requests_total: { kind: 'counter', help: 'API requests, by route, method and status.' },
  millrace_http_request_duration_seconds: {
    kind: 'histogram',
    help: 'How long API requests took until the response began, in seconds, by route and method.',
    buckets: FAST,
  },
  millrace_sweep_duration_seconds: {
    kind: 'gauge',
    help: 'How long the last sweep of this process took, in seconds, by sweep.',
  },
  millrace_sweep_failures_total: { kind: 'counter', help: 'Sweeps of this process that failed, by sweep.' },
} as const satisfies Record<string, Measure>

export type MeasureName = keyof typeof MEASURES
type NameOf<K extends Measure['kind']> = {
  [N in MeasureName]: (typeof MEASURES)[N]['kind'] extends K ? N : never
}[MeasureName]

export interface Series {
  labels: Labels
  /** For a histogram: the sum. */
  value: number
  /** For a histogram: how many values fall into each bucket, counted once; the last is for the rest. */
  counts?: number[]
}

/** Series by name, and by the text of their labels. */
const all = () => processWide('measures', () => new Map<MeasureName, Map<string, Series>>())

function seriesOf(name: MeasureName, labels: Labels): Series {
  const store = all()
  let known = store.get(name)
  if (!known) {
    known = new Map()
    store.set(name, known)
  }
  let key = ''
  for (const label in labels) key += `${labels[label]}\u0000`
  let series = known.get(key)
  if (!series) {
    series = { labels, value: 0 }
    known.set(key, series)
  }
  return series
}

export function count(name: NameOf<'counter'>, labels: Labels): void {
  seriesOf(name, labels).value += 1
}

export function note(name: NameOf<'gauge'>, labels: Labels, value: number): void {
  seriesOf(name, labels).value = value
}

export function observe(name: NameOf<'histogram'>, labels: Labels, seconds: number): void {
  const { buckets } = MEASURES[name]
  const series = seriesOf(name, labels)
  series.counts ??= new Array<number>(buckets.length + 1).fill(0)
  series.value += seconds
  const at = buckets.findIndex((bound) => seconds <= bound)
  const index = at < 0 ? buckets.length : at
  series.counts[index] = (series.counts[index] ?? 0) + 1
}

export function measured(name: MeasureName): Iterable<Series> {
  return all().get(name)?.values() ?? []
}
