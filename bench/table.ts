import type { Paired } from './against'
import { type Comparison, compare } from './compare'
import type { Cost, Figure, Rate, Result } from './results'
import { median, round } from './stats'

/** All results as the tables of `docs/performance.md`. With several rounds, each cell shows the median. */
export function markdown(results: readonly Result[]): string {
  const rates = results.filter((result) => result.kind === 'rate')
  const figures = results.filter((result) => result.kind === 'figure')
  const parts = [
    ['Rates. Cost is per run or, for reads, per call.', rateTable(rates)],
    ['Other figures.', figureTable(figures)],
    ['Beside the peers.', comparisonTable(compare(results))],
  ] as const
  return parts
    .filter(([, table]) => table)
    .map(([title, table]) => `${title}\n\n${table}\n`)
    .join('\n')
}

function rateTable(rates: readonly Rate[]): string {
  return table(
    [
      ...[
        'subject',
        'work',
        'callers',
        'per second',
        'to inserts',
        'p50 ms',
        'p99 ms',
        'errors',
        'RSS MiB, early',
        'end',
      ],
      ...['statements', 'nested', 'transactions', 'commits', 'syncs', 'product CPU ms', 'Postgres CPU ms'],
    ],
    groups(rates, ({ subject, work, what, callers }) => [subject, work, what, callers].join()).map((rounds) => {
      const [{ subject, work, what, callers }] = rounds
      const mid = (of: (rate: Rate) => number | undefined) => cell(median(rounds.map((rate) => of(rate) ?? Number.NaN)))
      const cost = (name: keyof Cost) => mid((rate) => rate.cost[name])
      return [
        ...[subject, `${work} ${what}`, `${callers}`],
        ...[mid((rate) => rate.perSecond), mid((rate) => rate.perSecond / rate.inserts)],
        ...[mid((rate) => rate.p50), mid((rate) => rate.p99), `${rounds.reduce((sum, { errors }) => sum + errors, 0)}`],
        ...[mid(({ rss }) => rss.early), mid(({ rss }) => rss.end)],
        ...[cost('statements'), cost('nested'), cost('transactions'), cost('commits'), cost('syncs')],
        ...[cost('productCpu'), cost('postgresCpu')],
      ]
    }),
  )
}

function figureTable(figures: readonly Figure[]): string {
  return table(
    ['subject', 'work', 'value', 'unit'],
    groups(figures, ({ subject, work, what }) => [subject, work, what].join()).map((rounds) => {
      const [{ subject, work, what, unit }] = rounds
      return [subject, `${work} ${what}`, cell(median(rounds.map(({ value }) => value))), unit]
    }),
  )
}

function comparisonTable(comparisons: readonly Comparison[]): string {
  const subjects = [...new Set(comparisons.flatMap(({ values }) => [...values.keys()]))]
  return table(
    ['work', ...subjects, 'compared with', 'ratio', 'must'],
    comparisons.map(({ what, unit, against, must, values, ratio }) => [
      `${what}, ${unit}`,
      ...subjects.map((subject) => cell(values.get(subject) ?? Number.NaN)),
      against,
      cell(ratio),
      must,
    ]),
  )
}

/** This build's speed relative to the other's, which is 1. */
export function pairedTable(found: readonly Paired[]): string {
  const rows = found.map(({ what, ratio, low, high, pairs }) => [
    ...[what, cell(ratio), `${cell(low)} to ${cell(high)}`, `${pairs}`],
  ])
  return `${table(['work', 'speed, the other build is 1', 'half of the pairs', 'pairs'], rows)}\n`
}

/** Groups items by key, in the order of each key's first item. */
function groups<T>(items: readonly T[], keyOf: (item: T) => string): [T, ...T[]][] {
  const found = new Map<string, [T, ...T[]]>()
  for (const item of items) {
    const group = found.get(keyOf(item))
    if (group) group.push(item)
    else found.set(keyOf(item), [item])
  }
  return [...found.values()]
}

function cell(value: number): string {
  return Number.isFinite(value) ? round(value).toLocaleString('en-US', { maximumSignificantDigits: 6 }) : '–'
}

function table(head: string[], rows: string[][]): string {
  if (rows.length === 0) return ''
  const line = (cells: string[]) => `| ${cells.join(' | ')} |`
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n')
}
