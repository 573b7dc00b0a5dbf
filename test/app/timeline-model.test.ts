import { describe, expect, it } from 'vitest'
import {
  axisOf,
  branchLabel,
  chosen,
  exitsTaken,
  isLeft,
  mergeTimeline,
  offsetText,
  stateOf,
  ticksOf,
  visitsOf,
  wordOf,
  zoomed,
} from '@/app/(dashboard)/[tenant]/runs/[runId]/timeline-model'
import type { Timeline } from '@/server/views/runs/timeline'

const MINUTE = 60_000
const DAY = 86_400_000

const told = (over: Partial<Timeline> = {}): Timeline => ({
  change: 10,
  startTime: '2026-03-01T09:00:00.000Z',
  endTime: null,
  steps: [
    ['a', 'First', 'call-tool', 'main'],
    ['ask', 'The question', 'collect-inputs', 'main'],
  ],
  rows: [
    [1, 0, 1, 1, 0, 400, 2, [1, 0, 100, 0, 100, 300, 1, 300, 400]],
    [2, 1, 1, 0, 400, null, 1, [0, 400, 420, 2, 420, -1]],
  ],
  forks: {},
  labels: {},
  names: {},
  cut: false,
  ...over,
})

describe('the visits of a run', () => {
  it('show what their time was spent on', () => {
    const [first, asked] = visitsOf(told())
    expect(first?.segments.map(({ kind }) => kind)).toEqual(['running', 'queued', 'running'])
    expect(asked?.segments.at(-1)).toEqual({ kind: 'waiting', from: 420, to: null })
    expect([first, asked].map((visit) => visit && stateOf(visit))).toEqual(['completed', 'paused'])
  })

  it('have unique keys, even when a step is visited again or on the cleanup path', () => {
    const steps: Timeline['steps'] = [
      ['a', 'A', 't', 'main'],
      ['a', 'A', 't', 'on-cancel'],
    ]
    const visits = visitsOf(
      told({
        steps,
        rows: [
          [1, 0, 1, 1, 0, 1, 1, []],
          [2, 0, 2, 1, 1, 2, 1, []],
          [3, 1, 1, 1, 2, 3, 1, []],
        ],
      }),
    )
    expect(visits.map(({ key }) => key)).toEqual(['a', 'main:a#2', 'on-cancel:a#1'])
  })

  it('count the exits that the run took', () => {
    const visits = visitsOf(
      told({
        rows: [
          [1, 0, 1, 1, 0, 1, 1, [], 'again'],
          [2, 0, 2, 1, 1, 2, 1, [], 'again'],
          [3, 0, 3, 2, 2, 3, 1, [], 'error'],
          [4, 1, 1, 1, 3, 4, 1, []],
          [5, 1, 2, 0, 4, null, 1, []],
        ],
      }),
    )
    const taken = [...exitsTaken(visits)].map(([step, times]) => [step, Object.fromEntries(times)])
    expect(taken).toEqual([
      ['a', { again: 2, error: 1 }],
      ['ask', { next: 1 }],
    ])
  })

  it('are marked when copied from an earlier run', () => {
    const [carried, own] = visitsOf(
      told({
        rows: [
          [1, 0, 1, 1, -9_000, -8_000, 1, []],
          [2, 1, 1, 1, 0, 5, 1, []],
        ],
      }),
    )
    expect([carried?.carried, own?.carried]).toEqual([true, false])
  })

  it('can be filtered by failure and by name', () => {
    const visits = visitsOf(told())
    expect(chosen(visits, { text: '', errorsOnly: true }).map(({ stepId }) => stepId)).toEqual(['a'])
    expect(chosen(visits, { text: ' QUEST ', errorsOnly: false }).map(({ stepId }) => stepId)).toEqual(['ask'])
  })
})

it('a segment’s time is named by its kind: between attempts, and while an answer can be undone', () => {
  const [first, asked] = visitsOf(
    told({
      rows: [
        [1, 0, 1, 1, 0, 400, 2, [0, 0, 50, 1, 50, 100, 0, 100, 300, 1, 300, 400]],
        [2, 1, 1, 1, 400, 900, 1, [0, 400, 420, 2, 420, 800, 0, 800, 900]],
      ],
    }),
  )
  const words = (visit: typeof first) => visit?.segments.map((segment) => wordOf(visit, segment))
  expect(words(first)).toEqual(['queued', 'running', 'waits to try again', 'running'])
  expect(words(asked)).toEqual(['queued', 'waiting', 'answered, and can be undone'])
})

it('a branch is called by its name, an item by its number, and a branch whose name was not read by its key', () => {
  const names: Timeline['names'] = { checks: [['credit', 'Credit']] }
  const labels = ['main/checks#1/credit', 'main/checks#1/fraud', 'main/each#1/1700'].map((one) =>
    branchLabel(one, names),
  )
  expect(labels).toEqual(['Credit', 'fraud', 'Item 1,700'])
})

describe('a change of the run', () => {
  it('replaces the known state of the same visit and adds new ones, even if steps are numbered differently', () => {
    const changed = told({
      change: 20,
      endTime: '2026-03-01T10:00:00.000Z',
      steps: [
        ['end', 'Done', 'end-flow', 'main'],
        ['ask', 'The question', 'collect-inputs', 'main'],
      ],
      rows: [
        [2, 1, 1, 1, 400, 900, 1, [2, 400, 900]],
        [3, 0, 1, 1, 900, 900, 1, []],
      ],
    })
    const merged = mergeTimeline(told(), changed)
    expect(visitsOf(merged).map(({ seq, stepId, status }) => [seq, stepId, status])).toEqual([
      [1, 'a', 'completed'],
      [2, 'ask', 'completed'],
      [3, 'end', 'completed'],
    ])
    expect(merged).toMatchObject({ change: 20, endTime: '2026-03-01T10:00:00.000Z' })
    expect(mergeTimeline(merged, changed)).toEqual(merged)
  })
})

describe('the axis of a run', () => {
  const row = (seq: number, start: number, end: number, flat: number[] = []): Timeline['rows'][number] => [
    seq,
    0,
    seq,
    1,
    start,
    end,
    1,
    flat,
  ]
  const axis = (rows: Timeline['rows'], end: number) => axisOf(visitsOf(told({ rows })), end)

  it('runs from the run’s start to its end, never backwards', () => {
    const { place } = axis([row(1, 0, 500), row(2, 500, 2_000), row(3, 1_000, 4_000)], 4_000)
    expect([place(-5), place(0), place(2_000), place(4_000), place(9_000)]).toEqual([0, 0, 0.5, 1, 1])
  })

  it('shortens a long wait, so that the rest stays visible', () => {
    const rows = [row(1, 0, 1_000), row(2, 1_000, 3 * DAY, [2, 1_000, 3 * DAY]), row(3, 3 * DAY, 3 * DAY + 1_000)]
    const { place, breaks } = axis(rows, 3 * DAY + 1_000)
    expect(breaks).toHaveLength(1)
    expect(breaks[0]?.ms).toBe(3 * DAY - 1_000)
    expect(place(1_000)).toBeGreaterThan(0.3)
    expect(1 - place(3 * DAY)).toBeGreaterThan(0.3)
    const places = [0, 500, 1_000, DAY, 2 * DAY, 3 * DAY, 3 * DAY + 500].map(place)
    expect(places).toEqual([...places].sort((a, b) => a - b))
  })

  it('keeps a short wait, and shortens an ongoing one', () => {
    const short = [row(1, 0, 1_000), row(2, 1_000, 2_000, [2, 1_000, 2_000]), row(3, 2_000, 3_000)]
    expect(axis(short, 3_000).breaks).toEqual([])
    const now = axis([row(1, 0, 1_000), row(2, 1_000, MINUTE, [2, 1_000, MINUTE])], MINUTE)
    expect(now.breaks).toHaveLength(1)
    expect(now.place(MINUTE)).toBe(1)
  })

  it('has ticks at round times, and after a shortened wait counts from its end', () => {
    const texts = (rows: Timeline['rows'], end: number) => ticksOf(axis(rows, end)).map(({ text }) => text)
    expect(texts([row(1, 0, 5_000)], 5_000)).toEqual(['0', '1 s', '2 s', '3 s', '4 s', '5 s'])
    const rows = [row(1, 0, 1_000), row(2, 1_000, 3 * DAY, [2, 1_000, 3 * DAY]), row(3, 3 * DAY, 3 * DAY + 1_000)]
    const ticks = ticksOf(axis(rows, 3 * DAY + 1_000))
    expect(ticks.map(({ text }) => text)).toEqual(['0', '500 ms', '3 d', '+500 ms', '+1 s'])
    expect(texts([row(1, 0, 130_000)], 130_000)).toEqual(['0', '30 s', '1 m', '1 m 30 s', '2 m'])
    expect(offsetText(124_000)).toBe('2 m 04 s')
    for (const [index, { at }] of ticks.entries()) expect(at).toBeGreaterThan(ticks[index - 1]?.at ?? -1)
  })

  it('keeps its ticks few and apart, however often the run waited', () => {
    const rows = Array.from({ length: 2_000 }, (_, n) => [
      row(2 * n + 1, n * DAY, n * DAY + 10),
      row(2 * n + 2, n * DAY + 10, (n + 1) * DAY, [2, n * DAY + 10, (n + 1) * DAY]),
    ]).flat()
    const ticks = ticksOf(axis(rows, 2_000 * DAY))
    expect(ticks.length).toBeLessThan(13)
    expect(ticks.length).toBeGreaterThan(2)
  })

  it('has no labels over each other, also at its end, where they are on the left of their lines', () => {
    // Wide enough for eight characters between two ticks.
    const width = (text: string) => (text.length / 8) * 0.15
    for (let end = 1; end < 4_000_000; end = Math.ceil(end * 1.13)) {
      const rows = [
        row(1, 0, end),
        row(2, end, end + 9 * DAY, [2, end, end + 9 * DAY]),
        row(3, end + 9 * DAY, end * 2 + 9 * DAY),
      ]
      const spans = [axis(rows.slice(0, 1), end), axis(rows, end * 2 + 9 * DAY)].map((one) =>
        ticksOf(one).map(({ at, text }) => (isLeft(at) ? [at - width(text), at] : [at, at + width(text)])),
      )
      for (const labels of spans) {
        expect(labels.length).toBeGreaterThan(1)
        for (const [index, [from = 0]] of labels.entries())
          expect(from).toBeGreaterThanOrEqual((labels[index - 1]?.[1] ?? -1) - 1e-9)
      }
    }
  })

  it('can show a part as a whole, with finer ticks', () => {
    const whole = axis([row(1, 0, 60_000)], 60_000)
    const part = zoomed(whole, { from: 0.5, to: 0.6 })
    expect([part.place(30_000), part.place(36_000)].map((at) => Math.round(at * 1_000))).toEqual([0, 1_000])
    expect(ticksOf(part).map(({ text }) => text)).toEqual(['30 s', '32 s', '34 s', '36 s'])
  })

  it('of a run that took no time does not divide by zero', () => {
    const { place } = axis([row(1, 0, 0)], 0)
    expect(Number.isFinite(place(0))).toBe(true)
    expect(axisOf([], 0).place(0)).toBe(0)
  })
})
