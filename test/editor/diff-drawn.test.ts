import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { drawDiff } from '@/app/(dashboard)/[tenant]/workflows/[id]/canvas/diff-drawn'
import { markWays, type Walked } from '@/app/(dashboard)/[tenant]/workflows/[id]/canvas/diff-paths'
import { END } from '@/app/(dashboard)/[tenant]/workflows/[id]/canvas/graph'
import { START } from '@/app/(dashboard)/[tenant]/workflows/[id]/model/definition'
import { NODE_HEIGHT, NODE_WIDTH, sizeOf } from '@/app/(dashboard)/[tenant]/workflows/[id]/model/exit-row'
import { completeLayout } from '@/app/(dashboard)/[tenant]/workflows/[id]/model/positions'
import type { Definition, Step } from '@/server/definition/schema'
import { rounds } from '../support/rounds'
import { catalog, definitions } from './graphs'

const set = (id: string, of = id): Step => ({ id, type: 'set-data', values: { [of]: 1 } })
const ask: Step = { id: 'ask', type: 'collect-inputs', output: { a: { type: 'string' } } }
const check: Step = { id: 'check', type: 'condition', when: '${a} == "x"' }

const before: Definition = {
  name: 'Order',
  description: '',
  initialStep: 'ask',
  payload: {},
  steps: [ask, check, set('pay'), set('refuse'), set('note')],
  edges: [
    { from: 'ask', to: 'check' },
    { from: 'check', to: 'pay', on: 'true' },
    { from: 'check', to: 'refuse', on: 'false' },
    { from: 'pay', to: 'note' },
  ],
}
const after: Definition = {
  ...before,
  payload: { customer: { type: 'string' } },
  steps: [{ ...ask, message: 'New' }, check, set('refund'), set('refuse'), set('note')],
  edges: [
    { from: 'ask', to: 'check' },
    { from: 'check', to: 'refund', on: 'true' },
    { from: 'check', to: 'note', on: 'false' },
    { from: 'refund', to: 'note' },
  ],
}
const layout = {
  [START]: { x: 0, y: -136 },
  ask: { x: 0, y: 0 },
  check: { x: 0, y: 136 },
  pay: { x: -200, y: 300 },
  refuse: { x: 200, y: 300 },
  note: { x: 0, y: 440 },
}

describe('two definitions on one graph', () => {
  const drawn = drawDiff({ before, after, layout }, catalog)

  test('say on each step that differs what it is, in the order of a run', () => {
    expect(drawn.stops.map((id) => `${id}: ${drawn.steps.get(id)?.words}`)).toEqual([
      `${START}: Changed: 1 field`,
      'ask: Changed: message',
      'check: Leads elsewhere',
      'refund: Added',
      'pay: Removed',
    ])
  })

  test('have the lines of both; only one between steps that both have says what happened to it', () => {
    const words = [...drawn.lines].map(([id, { mark, words }]) => `${mark} ${id}${words === '' ? '' : ` “${words}”`}`)
    expect(words.sort()).toEqual([
      'added check false note “added”',
      'added check true refund',
      'added refund next note',
      'removed check false refuse “removed”',
      'removed check true pay',
      'removed pay next note',
    ])
    const ids = drawn.drawn.edges.map(({ id }) => id)
    for (const id of drawn.lines.keys()) expect(ids).toContain(id)
  })

  test('keep every box where the editor has it; a removed one gives way to what is there now', () => {
    for (const id of ['ask', 'check', 'pay', 'refuse', 'note'] as const) expect(drawn.layout[id]).toEqual(layout[id])
    const taken = drawDiff({ before, after, layout: { ...layout, refund: layout.pay } }, catalog).layout
    expect(taken.refund).toEqual(layout.pay)
    expect(taken.pay?.y).toBe((taken.check?.y ?? 0) + 100 + 64)
    expect(taken.pay).not.toEqual(layout.pay)
  })

  test('no box without a position is put over another', () => {
    fc.assert(
      fc.property(definitions, (one) => {
        const placed = Object.values(completeLayout(one, { [START]: { x: 40, y: 30 } }, catalog))
        for (const [i, a] of placed.entries())
          for (const b of placed.slice(i + 1))
            expect(Math.abs(a.x - b.x) < NODE_WIDTH && Math.abs(a.y - b.y) < NODE_HEIGHT).toBe(false)
      }),
      { numRuns: rounds(50, 800) },
    )
    const known = { ask: { x: 0, y: 0 }, pay: { x: -200, y: 136 }, refuse: { x: 200, y: 136 } }
    const edges = [{ from: 'ask', to: 'note' }]
    expect(completeLayout({ ...before, edges }, known, catalog).note).toEqual({ x: 512, y: 136 })
  })

  test('a renamed step stands where it stood, whichever of its ids the editor knows', () => {
    const renamed = { ...before, steps: before.steps.map((step) => (step.id === 'pay' ? set('paid', 'pay') : step)) }
    const edges = before.edges.map(({ from, to, ...edge }) => {
      const of = (id: string) => (id === 'pay' ? 'paid' : id)
      return { from: of(from), to: of(to), ...edge }
    })
    expect(drawDiff({ before, after: { ...renamed, edges }, layout }, catalog).layout.paid).toEqual(layout.pay)
    expect(drawDiff({ before: { ...renamed, edges }, after: before, layout }, catalog).layout.pay).toEqual(layout.pay)
  })

  test('of any two, every line has both its ends', () => {
    fc.assert(
      fc.property(definitions, definitions, (one, other) => {
        const found = drawDiff({ before: one, after: other, layout: { [START]: { x: 0, y: 0 } } }, catalog)
        const nodes = new Set([START, END, ...found.union.steps.map(({ id }) => id)])
        for (const { from, to } of found.drawn.edges) for (const id of [from, to]) expect(nodes).toContain(id)
        for (const { from, exit } of found.drawn.edges)
          if (found.drawn.exits.get(from)?.length !== 0)
            expect(found.drawn.exits.get(from)?.map(({ id }) => id)).toContain(exit)
        for (const { id } of found.union.steps) expect(sizeOf(found.drawn.exits.get(id) ?? []).width).toBeGreaterThan(0)
      }),
      { numRuns: rounds(50, 800) },
    )
  })
})

describe('the ways of a run through both', () => {
  const { diff } = drawDiff({ before, after, layout }, catalog)
  const way = (...visits: string[]): Walked[] =>
    visits.map((visit) => {
      const [stepId = '', exit = 'next'] = visit.split('.')
      return { branch: 'main', stepId, exit: exit === 'end' || exit === 'next' ? null : exit }
    })

  test('are marked from where they part', () => {
    const found = markWays(
      { was: way('ask', 'check.true', 'pay', 'note'), now: way('ask', 'check.false', 'note') },
      diff,
    )
    expect(found.parts).toBe('check')
    expect([...found.lines].map(([id, { mark }]) => `${mark} ${id}`)).toEqual([
      'was check true pay',
      'was pay next note',
      'now check false note',
    ])
    expect([...found.steps].map(([id, { words }]) => `${id} ${words}`)).toEqual(['pay Only before'])
  })

  test('are the same where only a step was inserted or removed', () => {
    const found = markWays(
      { was: way('ask', 'check.true', 'pay', 'note'), now: way('ask', 'check.true', 'refund', 'note') },
      diff,
    )
    expect(found).toEqual({ steps: new Map(), lines: new Map(), parts: null })
  })

  test('are compared branch by branch, however those took turns', () => {
    const branch = (name: string, ...visits: string[]) => way(...visits).map((visit) => ({ ...visit, branch: name }))
    const [main, one] = [way('ask', 'check.true'), branch('b', 'pay', 'note')]
    expect(markWays({ was: [...main, ...one], now: [...one, ...main] }, diff).parts).toBeNull()
    const found = markWays({ was: [...main, ...one], now: [...main, ...branch('b', 'pay', 'refuse')] }, diff)
    expect([...found.steps.keys()]).toEqual(['note', 'refuse'])
  })

  test('leave by a line to a step that only one version has, on the way to the next that both have', () => {
    const found = markWays({ was: way('check.false', 'refuse'), now: way('check.true', 'note') }, diff)
    expect([...found.lines].map(([id, { mark }]) => `${mark} ${id}`)).toEqual([
      'was check false refuse',
      'now check true refund',
    ])
  })

  test('part at the last step of the shorter one', () => {
    const found = markWays({ was: way('ask', 'check.true', 'pay', 'note'), now: way('ask', 'check.end') }, diff)
    // Where the shorter one leads is not known.
    expect([...found.lines.values()].every(({ mark }) => mark === 'was')).toBe(true)
    expect(found.parts).toBe('check')
    expect([...found.lines].flatMap(([id, { mark }]) => (mark === 'was' ? [id] : []))).toEqual([
      'check true pay',
      'pay next note',
    ])
  })
})
