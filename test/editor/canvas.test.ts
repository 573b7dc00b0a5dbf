import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  arrowTarget,
  END,
  endPosition,
  graphEdges,
  graphExits,
  lanesIn,
  neighboursOf,
} from '@/app/(dashboard)/[tenant]/workflows/[id]/canvas/graph'
import { withHeights } from '@/app/(dashboard)/[tenant]/workflows/[id]/canvas/heights'
import { bodiesOf, hullsOf } from '@/app/(dashboard)/[tenant]/workflows/[id]/canvas/hulls'
import { bendsOf, hasRoom, labelAt, lanesOf } from '@/app/(dashboard)/[tenant]/workflows/[id]/canvas/lines'
import { connect, disconnect, FIRST_BOUND } from '@/app/(dashboard)/[tenant]/workflows/[id]/model/connect'
import { START } from '@/app/(dashboard)/[tenant]/workflows/[id]/model/definition'
import { addStep } from '@/app/(dashboard)/[tenant]/workflows/[id]/model/edit-steps'
import { handleAt, NODE_WIDTH, shownExits, sizeOf } from '@/app/(dashboard)/[tenant]/workflows/[id]/model/exit-row'
import { layoutWithDagre } from '@/app/(dashboard)/[tenant]/workflows/[id]/model/layout-dagre'
import { layoutRequest } from '@/app/(dashboard)/[tenant]/workflows/[id]/model/layout-request'
import type { Definition } from '@/server/definition/schema'
import { SAMPLE_WORKFLOWS } from '@/server/workflows/samples'
import { rounds } from '../support/rounds'
import { catalog, soundDefinitions } from './graphs'

const definition: Definition = {
  name: 'Order',
  description: '',
  initialStep: 'ask',
  steps: [
    { id: 'ask', type: 'collect-inputs', output: { a: { type: 'string' } } },
    { id: 'left', type: 'call-tool', toolId: 't' },
    { id: 'right', type: 'call-tool', toolId: 't' },
    { id: 'done', type: 'end-flow' },
    { id: 'lost', type: 'call-tool', toolId: 't' },
  ],
  edges: [
    { from: 'ask', to: 'left' },
    { from: 'ask', to: 'right', on: 'big' },
    { from: 'left', to: 'done' },
  ],
  payload: {},
}

describe('the lines of the graph', () => {
  const edges = graphEdges(definition, catalog)

  test('a branch ends where its path does, not at END, and the steps after all branches continue', () => {
    const forked: Definition = {
      ...definition,
      initialStep: 'fork',
      steps: [
        { id: 'fork', type: 'parallel', branches: [{ id: 'a' }, { id: 'b' }] },
        { id: 'one', type: 'call-tool', toolId: 't' },
      ],
      edges: [{ from: 'fork', to: 'one', on: 'a' }],
    }
    const drawn = graphEdges(forked, catalog).map(({ from, exit, to, kind }) => `${from} ${exit} ${to} ${kind}`)
    expect(drawn).toEqual(['#start next fork edge', 'fork a one edge', 'fork done #end implicit'])
  })

  test('START leads to the first step, paths that end lead to END, and unreachable steps get no line', () => {
    expect(edges.map(({ from, to, kind }) => `${from} ${to} ${kind}`)).toEqual([
      '#start ask edge',
      'ask left edge',
      'ask right edge',
      'left done edge',
      'right #end implicit',
      'done #end end',
    ])
  })

  test('arrow keys move down, up and sideways, and stop at the last node', () => {
    const ways = neighboursOf(edges)
    const walk = (from: string, ...keys: string[]) =>
      keys.reduce<string | null>((at, key) => (at === null ? null : arrowTarget(ways, at, key)), from)
    expect(walk(START, 'ArrowDown', 'ArrowDown')).toBe('left')
    expect(walk('left', 'ArrowRight')).toBe('right')
    expect(walk('right', 'ArrowRight')).toBeNull()
    expect(walk('right', 'ArrowDown')).toBe(END)
    expect(walk('done', 'ArrowUp', 'ArrowUp', 'ArrowUp')).toBe(START)
    expect(walk(START, 'ArrowUp')).toBeNull()
  })

  test('END is below everything', () => {
    const layout = {
      [START]: { x: 0, y: 0 },
      right: { x: 400, y: 200 },
      done: { x: 0, y: 300 },
      lost: { x: 0, y: 900 },
    }
    expect(endPosition(edges, layout).y).toBeGreaterThan(900)
  })
})

/** amount → big? true: ask, then on; false: on. */
const branching: Definition = {
  ...definition,
  initialStep: 'big',
  steps: [
    { id: 'big', type: 'condition', when: 'true' },
    {
      id: 'ask',
      type: 'request-user-action',
      actions: [
        { id: 'yes', label: 'Yes' },
        { id: 'no', label: 'No' },
      ],
    },
    { id: 'done', type: 'end-flow' },
  ],
  edges: [
    { from: 'big', to: 'ask', on: 'true' },
    { from: 'big', to: 'done', on: 'false' },
    { from: 'ask', to: 'done', on: 'yes' },
  ],
}
const lines = (of: Definition) =>
  graphEdges(of, catalog).map(({ from, exit, to, kind }) => `${from} ${exit} ${to} ${kind}`)

describe('exits', () => {
  const shown = (of: Definition, id: string) =>
    graphExits(of, catalog)
      .get(id)
      ?.map((exit) => `${exit.id} ${exit.tier}${exit.used ? ' used' : ''}`)

  test('one way on has no label, several have; what the others take is quiet, and failures are at the side', () => {
    expect(shown(definition, 'left')).toEqual(['next only used', 'error failure'])
    expect(shown(branching, 'big')).toEqual(['true way used', 'false way used', 'error failure'])
    expect(shown(branching, 'ask')).toEqual(['yes way used', 'no way', 'next rest', 'error failure'])
    expect(shown(branching, 'done')).toEqual([])
    expect(shown(definition, 'ask')).toEqual(['next only used', 'error failure', 'big stray used'])
  })

  test('a path ends where no step follows, but not at an action that takes what the others take', () => {
    expect(lines(branching)).toEqual([
      '#start next big edge',
      'big true ask edge',
      'big false done edge',
      'ask yes done edge',
      'ask next #end implicit',
      'done next #end end',
    ])
    const all = { ...branching, edges: [...branching.edges, { from: 'ask', to: 'done', on: 'no' }] }
    expect(lines(all)).not.toContain('ask next #end implicit')
  })

  test('a line that leads back says how often', () => {
    const looped = connect(branching, 'ask', 'no', 'big')
    expect(graphEdges(looped, catalog).find(({ kind }) => kind === 'back')).toMatchObject({
      from: 'ask',
      to: 'big',
      label: 'No',
      bound: FIRST_BOUND,
    })
    expect(neighboursOf(graphEdges(looped, catalog)).before('big')[0]).toBe(START)
  })

  test('handles do not overlap, however many there are', () => {
    const cases = Array.from({ length: 12 }, (_, i) => ({ id: `case_${i}`, label: `Case ${i}`, when: 'true' }))
    const exits = shownExits({ id: 's', type: 'switch', cases }, catalog, [])
    const places = exits.filter(({ tier }) => tier === 'way').map(({ id }) => handleAt(exits, id))
    for (const [i, { x, width }] of places.entries()) {
      const next = places[i + 1]
      expect(width).toBeGreaterThanOrEqual(80)
      if (next) expect(x + width / 2).toBeLessThanOrEqual(next.x - next.width / 2 + 0.01)
    }
    expect((places.at(-1)?.x ?? 0) + (places.at(-1)?.width ?? 0) / 2).toBeLessThanOrEqual(sizeOf(exits).width + 0.01)
  })
})

describe('the ways of lines', () => {
  test('branches are side by side in the order of the exits, and a loop reads from top to bottom', () => {
    const looped = connect(disconnect(branching, 'big', 'false'), 'ask', 'no', 'big')
    const other = addStep(looped, catalog, 'call-tool', { after: 'big', exit: 'false' })
    const at = layoutWithDagre(layoutRequest(other.definition, catalog))
    const middle = (id: string, width = NODE_WIDTH) => (at[id]?.x ?? 0) + width / 2
    expect(at.ask?.y).toBe(at[other.stepId]?.y)
    expect(middle('ask')).toBeLessThan(middle(other.stepId))
    expect(at.big?.y ?? 0).toBeLessThan(at.ask?.y ?? 0)
  })

  test('branches that nothing follows are in the order of the exits too', () => {
    const onboarding = SAMPLE_WORKFLOWS.find(({ id }) => id === 'wf_supplier_onboarding')?.definition
    const at = layoutWithDagre(layoutRequest(onboarding ?? branching, catalog))
    const row = ['decision', 'bank', 'each', 'accepted']
    expect(row.toSorted((a, b) => (at[a]?.x ?? 0) - (at[b]?.x ?? 0))).toEqual(row)
    expect(at.entry?.x).toBe(at.each?.x)
  })

  test('a line that leads back goes below the taller node that it passes', () => {
    const boxes = new Map([
      ['first', { x: 200, y: -200, width: 248, height: 72 }],
      ['tall', { x: 240, y: 0, width: 248, height: 100 }],
      ['last', { x: 500, y: 0, width: 248, height: 72 }],
    ])
    const line = { id: 'l', from: 'last', to: 'first', start: { x: 624, y: 72 }, end: { x: 324, y: -200 } }
    const lane = lanesOf([{ ...line, sideways: false }], boxes).get('l')
    expect(lane?.x).toBeLessThan(200)
    expect(lane?.leave).toBeGreaterThan(100)
  })

  test('a line that keeps apart from another does not move into a node', () => {
    const line = { from: 'a', start: { x: 0, y: 0 }, end: { x: 0, y: 400 }, sideways: false }
    const boxes = new Map([['b', { x: 20, y: 100, width: 200, height: 60 }]])
    const lines = [0, 1, 2].map((n) => ({ ...line, id: `l${n}`, to: `t${n}` }))
    const xs = [...lanesOf(lines, boxes).values()].map(({ x }) => x)
    expect(new Set(xs).size).toBe(3)
    for (const x of xs) expect(x).toBeLessThan(0.001)
  })

  test.each([12, 30])('a line to a neighbour goes through the gap of %i pixels between the two', (gap) => {
    const boxes = new Map(['a', 'b', 'c'].map((id, n) => [id, { x: n * (200 + gap), y: 0, width: 200, height: 60 }]))
    const line = (from: string, at: number, to: string, then: number) => ({
      ...{ id: from + to, from, to, sideways: false },
      start: { x: at * (200 + gap) + 100, y: 60 },
      end: { x: then * (200 + gap) + 100, y: 0 },
    })
    const lanes = lanesOf([line('a', 0, 'b', 1), line('c', 2, 'b', 1), line('a', 0, 'c', 2)], boxes)
    expect(lanes.get('ab')?.x).toBe(200 + gap / 2)
    // Its button is not in the gap, where both would cover it, but below the step that it leaves.
    const ab = line('a', 0, 'b', 1)
    const button = labelAt(bendsOf(ab.start, ab.end, false, lanes.get('ab')), lanes.get('ab'))
    expect(button.x).toBeLessThan(200 - 12)
    expect(button.y).toBeGreaterThan(60 + 12)
    expect(lanes.get('cb')?.x).toBe(400 + gap * 1.5)
    // A step is in the way of this one.
    expect(lanes.get('ac')?.x).toBeLessThan(0)
  })

  test('lines of neighbouring branches turn at different heights, and those that go farthest turn first', () => {
    const line = (to: string, startX: number, endX: number, room = 72) => ({
      ...{ id: to, from: 'halls', to, sideways: false },
      ...{ start: { x: startX, y: 100 }, end: { x: endX, y: 100 + room } },
    })
    const heights = (lines: ReturnType<typeof line>[], boxes = new Map()) => {
      const lanes = withHeights(lines, lanesOf(lines, boxes))
      return lines.map(({ id, start, end }) => {
        const bends = bendsOf(start, end, false, lanes.get(id))
        return bends.find(({ y }, i) => y === bends[i + 1]?.y && bends[i + 1]?.x !== bends[i]?.x)?.y
      })
    }
    const branches = (room?: number) => [
      line('main', 44, -268, room),
      line('cold', 132, 28, room),
      line('yard', 220, 324, room),
      line('done', 308, 620, room),
    ]
    expect(heights(branches())).toEqual([129, 143, 143, 129])
    const [main] = branches()
    if (!main) throw new Error('There is a first branch')
    const lanes = withHeights(branches(), new Map())
    expect(bendsOf(main.start, main.end, false, lanes.get('main')).slice(0, 3)).toEqual([
      { x: 44, y: 100 },
      { x: 44, y: 129 },
      { x: -268, y: 129 },
    ])
    // The same of long lines, which turn above their target.
    expect(heights(branches(200))).toEqual([264, 278, 278, 264])
    // Two that do not meet stay half-way, and so do those that join at one step.
    expect(heights([line('a', 62, -24), line('b', 186, 272)])).toEqual([136, 136])
    const joining = [line('end', 0, 100), { ...line('end', 150, 100), id: 'other' }]
    expect(heights(joining)).toEqual([136, 136])
  })

  test('a line has a button only where it covers neither end', () => {
    const down = (length: number) => bendsOf({ x: 0, y: 0 }, { x: 0, y: length }, false, undefined)
    expect([24, 39, 40, 80].map((length) => hasRoom(down(length)))).toEqual([false, false, true, true])
  })

  test('no long line crosses a node in any tidied graph', () => {
    let long = 0
    fc.assert(
      fc.property(soundDefinitions, (made) => {
        const exits = graphExits(made, catalog)
        const edges = graphEdges(made, catalog, exits)
        const layout = layoutWithDagre(layoutRequest(made, catalog))
        const end = endPosition(edges, layout, exits)
        const lanes = lanesIn(edges, exits, layout, end)
        for (const edge of edges) {
          const source = layout[edge.from]
          const lane = lanes.get(edge.id)
          if (!source || lane === undefined) continue
          long++
          const from = source.y + sizeOf(exits.get(edge.from) ?? []).height
          const to = (edge.to === END ? end : layout[edge.to])?.y ?? 0
          for (const [id, shown] of exits) {
            const box = layout[id]
            if (!box) continue
            const { width, height } = sizeOf(shown)
            const [top, bottom] = [Math.min(from, to), Math.max(from, to)]
            const beside = lane.x < box.x || lane.x > box.x + width
            const within = box.y > top + 21 && box.y + height < bottom - 29
            expect(!within || beside, `${edge.id} at ${lane.x} through ${id}`).toBe(true)
          }
        }
      }),
      { numRuns: rounds(100, 1000) },
    )
    expect(long).toBeGreaterThan(20)
  })
})

describe('the hulls behind bodies', () => {
  const body: Definition = {
    name: 'Bodies',
    description: '',
    payload: {},
    initialStep: 'checks',
    steps: [
      { id: 'checks', type: 'parallel', branches: [{ id: 'a', label: 'First' }, { id: 'b' }] },
      { id: 'ask', type: 'collect-inputs', output: { n: { type: 'number' } } },
      { id: 'each', type: 'for-each', items: '${list}' },
      { id: 'save', type: 'set-data', values: {} },
      { id: 'end', type: 'end-flow' },
    ],
    edges: [
      { from: 'checks', to: 'ask', on: 'a' },
      { from: 'checks', to: 'each', on: 'b' },
      { from: 'each', to: 'save', on: 'each' },
      { from: 'checks', to: 'end', on: 'done' },
    ],
  }
  const box = (x: number, y: number) => ({ x, y, width: 100, height: 50 })

  test('contain the steps of a branch and no others, and an outer one surrounds the one inside it', () => {
    const bodies = bodiesOf(body, catalog)
    expect(bodies.map(({ label, steps, holds }) => [label, [...steps], holds])).toEqual([
      ['b', ['each', 'save'], 1],
      ['First', ['ask'], 0],
      ['For each item', ['save'], 0],
    ])
    const boxes = new Map([
      ['ask', box(0, 0)],
      ['each', box(200, 0)],
      ['save', box(300, 100)],
      ['end', box(600, 0)],
    ])
    const [outer, first, inner] = hullsOf(bodies, boxes)
    expect(outer?.parts.map((corners) => corners.length)).toEqual([4, 4, 6])
    expect(first?.parts).toEqual([
      [
        { x: 0, y: 0 },
        { x: 100, y: 0 },
        { x: 100, y: 50 },
        { x: 0, y: 50 },
      ],
    ])
    expect(outer?.reach).toBeGreaterThan(inner?.reach ?? 0)
    expect(hullsOf(bodies, new Map())).toEqual([])
  })

  test('are counted once each, however deep they lie in each other', () => {
    const deep = Array.from({ length: 60 }, (_, index) => `each${index}`)
    const steps = [...deep.map((id) => ({ id, type: 'for-each', items: '${list}' })), { id: 'save', type: 'set-data' }]
    const edges = deep.map((from, index) => ({ from, to: deep[index + 1] ?? 'save', on: 'each' }))
    const bodies = bodiesOf({ ...body, initialStep: 'each0', steps, edges }, catalog)
    expect(bodies.map(({ holds }) => holds)).toEqual(deep.map((_, index) => 59 - index))
  })

  test('do not hang where a body leads back to its own step', () => {
    const edges = [...body.edges, { from: 'save', to: 'checks' }]
    expect(bodiesOf({ ...body, edges }, catalog).map(({ label }) => label)).toEqual(['First'])
  })
})
