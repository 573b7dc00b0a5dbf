import { describe, expect, it } from 'vitest'
import { callAt, pruned, visitsOf } from '@/app/(dashboard)/[tenant]/runs/[runId]/timeline-model'
import { failedKey, type Line, type Shown, treeOf } from '@/app/(dashboard)/[tenant]/runs/[runId]/timeline-tree'
import type { BranchItem } from '@/server/views/runs/branches'
import type { Timeline } from '@/server/views/runs/timeline'

const ENDS = { start: '(start)', result: '(result)' }
const counts = (total: number, failed = 0) => ({ total, succeeded: total - failed, failed })

/** A timeline of visits given as branch and step, in order. */
function told(places: [branch: string, step: string][], over: Partial<Timeline> = {}): Timeline {
  return {
    change: 1,
    startTime: '2026-03-01T09:00:00.000Z',
    endTime: '2026-03-01T09:01:00.000Z',
    steps: places.map(([branch, step]) => [step, step, 'a-type', branch]),
    rows: places.map((_, n) => [n + 1, n, 1, 1, n, n + 1, 1, []]),
    forks: {},
    labels: {},
    names: {},
    cut: false,
    ...over,
  }
}

function tree(timeline: Timeline, over: Partial<Shown> = {}) {
  const { names, cut } = timeline
  const nothing = { opened: new Map(), failed: new Map(), inside: new Map(), calls: new Map(), moves: [] }
  return treeOf({ visits: visitsOf(timeline), names, cut, ended: true, ...nothing, ...over }, ENDS)
}

const text = (line: Line | undefined) => (line ? `${' '.repeat(line.depth)}${line.kind} ${line.key}` : 'nothing')
const lines = (of: ReturnType<typeof tree>) => Array.from({ length: of.count }, (_, at) => text(of.at(at)))

describe('the lines of a timeline', () => {
  it('have a move between the visits around it, also in the middle of branches, and after the last one', () => {
    const timeline = told([
      ['main', 'a'],
      ['main', 'fork'],
      ['main/fork#1/x', 'inside'],
      ['main', 'b'],
    ])
    const move = (n: number, afterSeq: number) => ({
      ...{ at: `2026-03-01T09:0${n}:00.000Z`, by: null, from: n, to: n + 1, fromVersion: n, afterSeq },
      ...{ askedAgain: [], waitsAgain: [], droppedVotes: 0, reason: null },
    })
    const shown = tree(timeline, { moves: [move(1, 0), move(2, 3), move(3, 4), move(4, 4)], ended: false })
    expect(lines(shown)).toEqual([
      'boundary (start)',
      'move moved 2026-03-01T09:01:00.000Z',
      'visit a',
      'visit fork',
      'move moved 2026-03-01T09:02:00.000Z',
      'visit b',
      'move moved 2026-03-01T09:03:00.000Z',
      'move moved 2026-03-01T09:04:00.000Z',
    ])
  })

  it('have branches under the step that forked, by name, also within each other', () => {
    const timeline = told(
      [
        ['main', 'checks'],
        ['main/checks#1/credit', 'ask'],
        ['main/checks#1/fraud', 'more'],
        ['main/checks#1/fraud/more#1/x', 'deep'],
        ['main', 'end'],
      ],
      {
        forks: { 1: counts(2), 3: counts(1) },
        names: {
          checks: [
            ['credit', 'Credit'],
            ['fraud', 'Fraud'],
          ],
          more: [['x', 'X']],
        },
      },
    )
    const shown = tree(timeline)
    expect(lines(shown)).toEqual([
      'boundary (start)',
      'visit checks',
      ' branch main/checks#1/credit',
      '  visit main/checks#1/credit:ask#1',
      ' branch main/checks#1/fraud',
      '  visit main/checks#1/fraud:more#1',
      '   branch main/checks#1/fraud/more#1/x',
      '    visit main/checks#1/fraud/more#1/x:deep#1',
      'visit end',
      'boundary (result)',
    ])
    expect([3, 2, 1].map(shown.parentOf)).toEqual([2, 1, -1])
    expect(lines(tree(timeline, { opened: new Map([['main/checks#1', false]]) }))).toHaveLength(4)
  })

  const many = told(
    [
      ['main', 'list'],
      ['main', 'each'],
      ['main', 'end'],
    ],
    { forks: { 2: counts(100_000, 2) }, cut: true },
  )
  const failedItems = [7, 99_000].map(
    (position): BranchItem => ({
      position,
      key: String(position),
      state: 'failed',
      startTime: null,
      endTime: null,
      error: 'no',
    }),
  )

  it('of very many items cost no more than those of a few, and each is found by its number', () => {
    expect(lines(tree(many)).slice(1)).toEqual(['visit list', 'visit each', 'visit end', 'boundary (result)'])
    const opened = new Map([
      ['main/each#1', true],
      ['main/each#1/5', true],
    ])
    const began = performance.now()
    const shown = tree(many, { opened, failed: new Map([['main/each#1', failedItems]]) })
    const place = shown.placeOf('main/each#1/99999')
    expect(performance.now() - began).toBeLessThan(50)
    expect(text(shown.at(place))).toBe(' branch main/each#1/99999')
    expect(text(shown.at(place + 1))).toBe('visit end')
    expect(Array.from({ length: 8 }, (_, n) => text(shown.at(n + 2)))).toEqual([
      'visit each',
      ' counts main/each#1/#',
      ' heading main/each#1 failed',
      ' branch failed:main/each#1/7',
      ' branch failed:main/each#1/99000',
      ' heading main/each#1 all',
      ' branch main/each#1/0',
      ' branch main/each#1/1',
    ])
    const five = shown.placeOf('main/each#1/5')
    expect([five, five + 1, five + 2].map((at) => text(shown.at(at)))).toEqual([
      ' branch main/each#1/5',
      '  note main/each#1/5 …',
      ' branch main/each#1/6',
    ])
  })

  it('show the loaded part of an open branch, among those that failed too', () => {
    const branch = 'main/each#1/7'
    const opened = new Map([
      ['main/each#1', true],
      [failedKey(branch), true],
    ])
    const inside = new Map([[branch, visitsOf(told([[branch, 'save']]))]])
    const shown = tree(many, { opened, inside, failed: new Map([['main/each#1', failedItems]]) })
    expect(text(shown.at(6))).toBe('  visit main/each#1/7:save#1')
  })
})

describe('the calls of an agent', () => {
  const asked = told([['main', 'ask']], { steps: [['ask', 'Ask', 'call-agent', 'main']] })
  const call = (id: string) => ({
    ...{ id, kind: 'tool' as const, title: 'T', depth: id.split('.').length - 1, tokens: null, cost: null },
    ...times,
  })
  const times = { failed: false, start: 0, end: 1 }
  const opened = new Map([['~1', true]])

  it('are under its step once that is opened', () => {
    const closed = tree(asked)
    expect(lines(closed)).toEqual(['boundary (start)', 'visit ask', 'boundary (result)'])
    expect(closed.at(1)).toMatchObject({ open: false })
    const calls = new Map([[1, { calls: [call('1'), call('2'), call('2.1')], waiting: [] }]])
    const shown = tree(asked, { opened, calls })
    expect(lines(shown)).toEqual([
      'boundary (start)',
      'visit ask',
      ' call ask~1',
      ' call ask~2',
      '  call ask~2.1',
      'boundary (result)',
    ])
    expect(shown.parentOf(3)).toBe(1)
    expect(shown.placeOf('ask~2')).toBe(3)
    expect(callAt('main/each#1/0:ask#2~12')).toEqual({ visit: 'main/each#1/0:ask#2', id: '12' })
    expect(callAt('ask~2.1')).toEqual({ visit: 'ask', id: '2.1' })
  })

  it('end with what is under way, or with the fact that none were made', () => {
    const note = (timeline: Timeline, known?: Shown['calls']) =>
      tree(timeline, { opened, ...(known ? { calls: known } : {}) }).at(2)
    const none = { calls: [], waiting: [] }
    expect(note(asked)).toMatchObject({ text: 'Loading…' })
    expect(note(asked, new Map([[1, none]]))).toMatchObject({ text: 'No calls were recorded.' })
    const open: Timeline = { ...asked, rows: [[1, 0, 1, 0, 1, null, 1, []]] }
    expect(note(open, new Map([[1, none]]))).toMatchObject({ text: 'The model is answering…' })
    const waits = { calls: [], waiting: ['Stock', 'Refund'] }
    expect(note(open, new Map([[1, waits]]))).toMatchObject({ text: 'Under way: Stock, Refund' })
  })

  it('that need a decision are named while their step waits', () => {
    const waits: Timeline = { ...asked, rows: [[1, 0, 1, 0, 1, null, 1, [0, 1, 2, 2, 2, -1]]] }
    const known = new Map([[1, { calls: [call('1')], waiting: ['Refund'] }]])
    expect(tree(waits, { opened, calls: known }).at(3)).toMatchObject({ text: 'Waits for a decision: Refund' })
  })

  it('of a step taken over from an earlier run are in that run', () => {
    const carried: Timeline = { ...asked, rows: [[1, 0, 1, 1, -9, -5, 1, []]] }
    expect(tree(carried).at(1)).toMatchObject({ open: null })
  })
})

it('a timeline that is watched keeps everything outside branches, and of branches the newest and the open visits', () => {
  const places = Array.from({ length: 5_000 }, (_, n): [string, string] => [`main/each#1/${n}`, 'save'])
  const kept = pruned(told([['main', 'list'], ...places]))
  expect(kept.rows).toHaveLength(2_001)
  expect(kept.rows[0]?.[0]).toBe(1)
  expect(kept.rows.at(-1)?.[0]).toBe(5_001)
  expect(kept.cut).toBe(true)
  const [first, ...rest] = told(places).rows
  const open = first && ([...first.slice(0, 5), null, 1, []] as unknown as typeof first)
  const still = pruned({ ...told(places), rows: open ? [open, ...rest] : rest })
  expect(still.rows).toHaveLength(2_001)
  expect(still.rows[0]).toEqual(open)
})
