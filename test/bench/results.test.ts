import { describe, expect, test } from 'vitest'
import { compare } from '@/bench/compare'
import { costBetween } from '@/bench/cost'
import { parseStat } from '@/bench/processes'
import type { Figure, Rate } from '@/bench/results'
import { median, percentile, round } from '@/bench/stats'
import { markdown } from '@/bench/table'

const rate = (subject: string, inRound: number, p50: number, more: Partial<Rate> = {}): Rate => ({
  ...{ kind: 'rate', subject, round: inRound, work: 'W1', what: 'five trivial steps', callers: 1 },
  ...{ perSecond: 1000 / p50, p50, p99: p50 * 2, errors: 0, inserts: 1000 },
  cost: { statements: 16, nested: 10, transactions: 7, commits: 6, syncs: 6, productCpu: 3, postgresCpu: 2.5 },
  rss: { early: 300, end: 310 },
  ...more,
})
const figure = (subject: string, inRound: number, what: string, value: number): Figure => ({
  ...{ kind: 'figure', subject, round: inRound, work: 'W4', what, value, unit: 'ms' },
})

describe('statistics', () => {
  test('a percentile is one of the values, up to the last', () => {
    const values = Array.from({ length: 100 }, (_, index) => index + 1)
    expect([0, 0.5, 0.99, 1].map((share) => percentile(values, share))).toEqual([1, 51, 100, 100])
    expect(percentile([7], 0.99)).toBe(7)
    expect(percentile([], 0.5)).toBeNaN()
  })

  test('the median needs no order, lies between two in the middle, and leaves its input as it is', () => {
    const values = [9, 1, 5]
    expect(median(values)).toBe(5)
    expect(values).toEqual([9, 1, 5])
    expect(median([4, 1, 3, 2])).toBe(2.5)
    expect(median([])).toBeNaN()
  })

  test('figures keep three digits', () => {
    expect([0.0023456, 6.4512, 938.4, 12_467.6].map(round)).toEqual([0.00235, 6.45, 938, 12_468])
  })
})

test('processor time is read behind a name with spaces and brackets', () => {
  const line = '42 (a (b) c) S 7 42 42 0 -1 4194304 100 0 0 0 11 22 33 44 20 0 1 0 5'
  expect(parseStat(line)).toEqual({ pid: 42, parent: 7, ownTicks: 33, reapedTicks: 77 })
  expect(parseStat('')).toBeUndefined()
})

describe('the cost of a run', () => {
  const counters = { statements: 100, nested: 10, transactions: 50, commits: 40, syncs: 30 }
  const before = { counters, productCpu: 1000, postgresCpu: 500 }

  test('is the difference, divided by the runs in between', () => {
    const after = {
      ...{ counters: { statements: 260, nested: 110, transactions: 120, commits: 100, syncs: 80 } },
      ...{ productCpu: 1030, postgresCpu: 525 },
    }
    expect(costBetween(before, after, 10)).toEqual({
      ...{ statements: 16, nested: 10, transactions: 7, commits: 6, syncs: 5 },
      ...{ productCpu: 3, postgresCpu: 2.5 },
    })
  })

  test('is unknown, not nothing, for a store that is not Postgres', () => {
    const none = { counters: undefined, productCpu: 0, postgresCpu: undefined }
    expect(costBetween(none, { ...none, productCpu: 20 }, 10)).toEqual({
      ...{ statements: undefined, nested: undefined, transactions: undefined, commits: undefined, syncs: undefined },
      ...{ productCpu: 2, postgresCpu: undefined },
    })
  })
})

describe('the comparison', () => {
  const trivial = (results: Parameters<typeof compare>[0]) =>
    compare(results).find(({ what }) => what === 'W1 five trivial steps, c1 p50')

  test('is with the best peer of the same round, and its ratio is the middle one of the rounds', () => {
    const results = [
      ...[rate('millrace', 1, 6), rate('mastra', 1, 12), rate('dbos', 1, 10)],
      ...[rate('millrace', 2, 30), rate('mastra', 2, 20), rate('dbos', 2, 50)],
      ...[rate('millrace', 3, 7), rate('mastra', 3, 7), rate('dbos', 3, 14)],
    ]
    expect(trivial(results)).toMatchObject({ against: 'best', ratio: 1, must: '≤ 1.05' })
    expect(Object.fromEntries(trivial(results)?.values ?? [])).toEqual({ millrace: 7, mastra: 12, dbos: 14 })
  })

  test('leaves out a peer that failed, and a work that nobody else did', () => {
    const alone = [rate('millrace', 1, 6), figure('millrace', 1, 'per step at 1000 steps', 1.2)]
    expect(compare(alone)).toEqual([])
    const failed = [...alone, rate('dbos', 1, 12), figure('restate', 1, 'per step at 1000 steps', 2.4)]
    expect(compare(failed).map(({ what, ratio }) => [what, ratio])).toEqual([
      ['W1 five trivial steps, c1 p50', 0.5],
      ['W4 per step at 1000 steps', 0.5],
    ])
  })

  test('compares built-in tools with the trivial steps of the peers', () => {
    const ours = rate('millrace', 1, 3, { what: 'five built-in tools' })
    expect(compare([ours, rate('dbos', 1, 10)])).toMatchObject([
      { what: 'W1 five built-in tools, c1 p50', ratio: 0.3, must: '≤ 0.5' },
    ])
  })
})

describe('the tables', () => {
  test('show rates with the floor and the cost, medians of the rounds, and missing measurements as a dash', () => {
    const none = { statements: undefined, nested: undefined, transactions: undefined, commits: undefined }
    const text = markdown([
      ...[rate('millrace', 1, 5), rate('millrace', 2, 10, { errors: 1 }), rate('millrace', 3, 20, { errors: 2 })],
      rate('restate', 1, 10, { cost: { ...none, syncs: undefined, productCpu: 1, postgresCpu: undefined } }),
    ])
    expect(text).toContain(
      '| millrace | W1 five trivial steps | 1 | 100 | 0.1 | 10 | 20 | 3 | 300 | 310 | 16 | 10 | 7 | 6 | 6 | 3 | 2.5 |',
    )
    expect(text).toContain(
      '| restate | W1 five trivial steps | 1 | 100 | 0.1 | 10 | 20 | 0 | 300 | 310 | – | – | – | – | – | 1 | – |',
    )
    expect(text).toContain('| W1 five trivial steps, c1 p50, ms | 10 | 10 | best | 0.5 | ≤ 1.05 |')
  })

  test('distinguish zero from not measured', () => {
    const text = markdown([figure('millrace', 1, 'steps', 0), figure('millrace', 1, 'ratio', Number.NaN)])
    expect(text).toContain('| millrace | W4 steps | 0 | ms |')
    expect(text).toContain('| millrace | W4 ratio | – | ms |')
  })

  test('every row has as many cells as its head', () => {
    const text = markdown([
      rate('millrace', 1, 5),
      rate('dbos', 1, 5),
      figure('millrace', 1, 'last tenth to first', 1.1),
    ])
    const tables = text.split('\n\n').filter((part) => part.startsWith('|'))
    expect(tables).toHaveLength(3)
    for (const table of tables) {
      const widths = table
        .trim()
        .split('\n')
        .map((row) => row.split('|').length)
      expect(new Set(widths).size).toBe(1)
    }
  })

  test('are empty without results', () => expect(markdown([])).toBe(''))
})
