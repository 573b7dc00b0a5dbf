import { describe, expect, test } from 'vitest'
import {
  arrowTarget,
  END,
  endPosition,
  graphEdges,
  neighboursOf,
} from '@/app/(dashboard)/[tenant]/workflows/[id]/canvas/graph'
import { START } from '@/app/(dashboard)/[tenant]/workflows/[id]/model/definition'
import type { Definition } from '@/server/definition/schema'
import { catalog } from './graphs'

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

  test('START leads to the first step, dead ends lead to END, and unreachable steps lead nowhere', () => {
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
