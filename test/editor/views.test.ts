import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { START } from '@/app/(dashboard)/[tenant]/workflows/[id]/model/definition'
import { layoutWithDagre } from '@/app/(dashboard)/[tenant]/workflows/[id]/model/layout-dagre'
import { layoutRequest, NODE_HEIGHT, NODE_WIDTH } from '@/app/(dashboard)/[tenant]/workflows/[id]/model/layout-request'
import { flatOutline, type OutlineItem, outlineOf } from '@/app/(dashboard)/[tenant]/workflows/[id]/model/outline'
import {
  completeLayout,
  knownPositions,
  makeRoom,
  needsTidy,
  renameInLayout,
} from '@/app/(dashboard)/[tenant]/workflows/[id]/model/positions'
import type { Definition } from '@/server/definition/schema'
import { rounds } from '../support/rounds'
import { catalog, definitions, straightDefinitions } from './graphs'

/** a → (b → c | d) → e → f, and g alone. */
const branching: Definition = {
  name: 'n',
  description: '',
  initialStep: 'a',
  payload: {},
  steps: ['g', 'a', 'b', 'c', 'd', 'e', 'f'].map((id) => ({ id, type: 'call-tool' })),
  edges: [
    { from: 'a', to: 'b', on: 'yes' },
    { from: 'a', to: 'd', on: 'no' },
    { from: 'b', to: 'c' },
    { from: 'c', to: 'e' },
    { from: 'd', to: 'e' },
    { from: 'e', to: 'f' },
  ],
}
const text = (items: OutlineItem[]): string =>
  items
    .map((item) => {
      if (item.kind === 'jump') return `→${item.stepId}`
      if (item.kind === 'back') return `↺${item.stepId} ${item.bound}`
      if (item.kind !== 'step') return item.kind
      const inside = item.branches.map(({ exit, items: branch }) => `${exit}: ${text(branch)}`).join(' | ')
      return inside === '' ? item.step.id : `${item.step.id} (${inside})`
    })
    .join(' ')

describe('outlineOf', () => {
  test('nests branches until they join', () => {
    const outline = outlineOf(branching, catalog)
    expect(text(outline.main)).toBe('a (yes: b c | no: d) e f')
    expect(text(outline.loose)).toBe('g')
    expect(flatOutline(outline.main).map(({ step, depth, number }) => `${step.id}${depth}#${number}`)).toEqual([
      'a0#1',
      'b1#2',
      'c1#3',
      'd1#4',
      'e0#5',
      'f0#6',
    ])
  })

  const loop: Definition = {
    ...branching,
    initialStep: 'ask',
    steps: [
      { id: 'ask', type: 'collect-inputs', output: {}, maxVisits: 5 },
      { id: 'check', type: 'condition', when: 'true' },
      { id: 'pay', type: 'call-tool', toolId: 't' },
      { id: 'undo', type: 'call-tool', toolId: 't' },
      { id: 'done', type: 'end-flow' },
    ],
    edges: [
      { from: 'ask', to: 'check' },
      { from: 'check', to: 'ask', on: 'false' },
      { from: 'check', to: 'pay', on: 'true' },
      { from: 'pay', to: 'done' },
      { from: 'pay', to: 'undo', on: 'error' },
      { from: 'undo', to: 'done' },
    ],
  }

  test('lists the branches of a step that forks under it, and continues below them', () => {
    const forks: Definition = {
      ...branching,
      initialStep: 'p',
      steps: [
        { id: 'p', type: 'parallel', branches: [{ id: 'x' }, { id: 'y', label: 'Why' }] },
        ...['a', 'b', 'c', 'd', 'end'].map((id) => ({ id, type: 'call-tool' })),
        { id: 'each', type: 'for-each', items: '${list}' },
      ],
      edges: [
        { from: 'p', to: 'a', on: 'x' },
        { from: 'p', to: 'b', on: 'y' },
        { from: 'p', to: 'd', on: 'error' },
        { from: 'p', to: 'each', on: 'done' },
        { from: 'each', to: 'c', on: 'each' },
        { from: 'each', to: 'end', on: 'done' },
      ],
    }
    expect(text(outlineOf(forks, catalog).main)).toBe('p (x: a | y: b | error: d) each (each: c) end')
  })

  test('a way back names its bound, and neither it nor a failure makes the path below it a branch', () => {
    expect(text(outlineOf(loop, catalog).main)).toBe(
      'ask check (true: below | false: ↺ask 5) pay (next: below | error: undo) done',
    )
  })

  test('where one exit leads on, the others end', () => {
    const guard = { ...loop, edges: loop.edges.filter(({ on }) => on !== 'false' && on !== 'error') }
    expect(text(outlineOf(guard, catalog).main)).toBe('ask check (true: pay done | false: end)')
  })

  test('a loop ends in a jump, and the cleanup path is separate', () => {
    const edges = [...branching.edges, { from: 'f', to: 'a' }]
    expect(text(outlineOf({ ...branching, edges, onCancel: 'g' }, catalog).main)).toContain('e f ↺a null')
    expect(text(outlineOf({ ...branching, onCancel: 'g' }, catalog).cleanup)).toBe('g')
    expect(text(outlineOf({ ...branching, onCancel: 'e' }, catalog).cleanup)).toBe('→e')
  })

  test('shows every step of any draft exactly once', () => {
    fc.assert(
      fc.property(definitions, (definition) => {
        const { main, cleanup, loose } = outlineOf(definition, catalog)
        const shown = [main, cleanup, loose].flatMap((items) => flatOutline(items)).map(({ step }) => step.id)
        expect(shown.toSorted()).toEqual(definition.steps.map(({ id }) => id).toSorted())
      }),
      { numRuns: rounds(125, 2000) },
    )
  })

  test('lists steps only after those that lead to them', () => {
    fc.assert(
      fc.property(straightDefinitions, (definition) => {
        const order = flatOutline(outlineOf(definition, catalog).main).map(({ step }) => step.id)
        for (const { from, to } of definition.edges)
          if (order.includes(from) && definition.edges.filter((edge) => edge.to === to).length === 1)
            expect(order.indexOf(to) === -1 || order.indexOf(from) < order.indexOf(to) || to === order[0]).toBe(true)
      }),
    )
  })

  test('handles 2,000 steps in a row without overflowing the stack', () => {
    const steps = Array.from({ length: 2000 }, (_, i) => ({ id: `s${i}`, type: 'call-tool' }))
    const edges = steps.slice(1).map((step, i) => ({ from: `s${i}`, to: step.id }))
    expect(flatOutline(outlineOf({ ...branching, initialStep: 's0', steps, edges }, catalog).main)).toHaveLength(2000)
  })
})

const apart = (layout: Record<string, { x: number; y: number }>) => {
  const boxes = Object.values(layout)
  return boxes.every((a, i) =>
    boxes.every((b, j) => i >= j || Math.abs(a.x - b.x) >= NODE_WIDTH / 2 || Math.abs(a.y - b.y) >= NODE_HEIGHT / 2),
  )
}

describe('positions', () => {
  test('dagre places every node below those that lead to it, without overlaps', () => {
    const layout = layoutWithDagre(layoutRequest(branching))
    expect(Object.keys(layout).toSorted()).toEqual([START, 'a', 'b', 'c', 'd', 'e', 'f', 'g'].toSorted())
    for (const { from, to } of layoutRequest(branching).edges)
      expect(layout[to]?.y ?? 0).toBeGreaterThanOrEqual((layout[from]?.y ?? 0) + NODE_HEIGHT)
    expect(apart(layout)).toBe(true)
  })

  test('every node of any draft gets a position at once, and known positions stay', () => {
    fc.assert(
      fc.property(definitions, (definition) => {
        const known = { a: { x: 500, y: 500 }, gone: { x: 0, y: 0 } }
        const layout = completeLayout(definition, known)
        expect(Object.keys(layout).toSorted()).toEqual([START, ...definition.steps.map(({ id }) => id)].toSorted())
        if (layout.a) expect(layout.a).toEqual(known.a)
        expect(apart(layout)).toBe(true)
      }),
    )
  })

  test('positions from the API apply until a person moves the step', () => {
    const steps = [
      { id: 'a', type: 'x', position: { x: 1, y: 2 } },
      { id: 'b', type: 'x', position: 'odd' },
    ]
    const definition = { ...branching, steps }
    expect(knownPositions(definition, {})).toEqual({ a: { x: 1, y: 2 } })
    expect(knownPositions(definition, { a: { x: 9, y: 9 } })).toEqual({ a: { x: 9, y: 9 } })
    expect(needsTidy(definition, {})).toBe(false)
    expect(needsTidy(branching, {})).toBe(true)
  })

  test('a rename keeps the position; a step in between moves those below it down', () => {
    expect(renameInLayout({ a: { x: 1, y: 2 } }, 'a', 'b')).toEqual({ b: { x: 1, y: 2 } })
    const moved = makeRoom({ a: { x: 0, y: 0 }, b: { x: 0, y: 100 }, far: { x: 900, y: 100 } }, { x: 0, y: 100 }, 'new')
    expect(moved).toEqual({ a: { x: 0, y: 0 }, b: { x: 0, y: 100 + NODE_HEIGHT + 64 }, far: { x: 900, y: 100 } })
  })
})
