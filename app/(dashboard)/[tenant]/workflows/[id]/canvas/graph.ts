import { exitOf } from '@/server/interpreter/next-step'
import type { Catalog } from '@/server/steps/catalog'
import type { Definition } from '@/server/workflows/schema'
import { entryOf, exitLabel, type Layout, type Position, START } from '../model/definition'
import { NODE_HEIGHT, NODE_WIDTH } from '../model/layout-request'

/** Stands for the END node on the canvas; nothing of it is ever written down. */
export const END = '#end'
export const END_WIDTH = 96
export const END_HEIGHT = 40

/** A line of the canvas. `implicit` goes to END because nothing follows; `end` because the step ends the run. */
export interface GraphEdge {
  id: string
  from: string
  exit: string
  to: string
  label: string
  kind: 'edge' | 'implicit' | 'end'
}

/** Every line that is drawn, START's and those to END included. */
export function graphEdges(definition: Definition, catalog: Catalog): GraphEdge[] {
  const { steps, edges, initialStep } = definition
  const ids = new Set(steps.map(({ id }) => id))
  const drawn: GraphEdge[] = []
  const add = (kind: GraphEdge['kind'], from: string, exit: string, to: string) =>
    drawn.push({ id: `${from} ${exit} ${to}`, from, exit, to, label: exitLabel(exit), kind })
  if (initialStep !== null && ids.has(initialStep)) add('edge', START, 'next', initialStep)
  const leaving = new Map<string, Set<string>>()
  for (const edge of edges) {
    if (!ids.has(edge.from) || !ids.has(edge.to)) continue
    const exit = exitOf(edge)
    add('edge', edge.from, exit, edge.to)
    leaving.set(edge.from, (leaving.get(edge.from) ?? new Set()).add(exit))
  }
  const led = new Set(drawn.map(({ to }) => to))
  for (const step of steps) {
    // A step that nothing leads to ends nothing either.
    if (!led.has(step.id) && step.id !== definition.onCancel) continue
    const entry = entryOf(catalog, step.type)
    if (entry?.mode === 'end') add('end', step.id, 'next', END)
    else if (!leaving.get(step.id)?.has('next')) add('implicit', step.id, 'next', END)
  }
  return drawn
}

/** END stands below everything, under the middle of what leads to it. */
export function endPosition(edges: readonly GraphEdge[], layout: Layout): Position {
  const sources = edges.flatMap((edge) => (edge.to === END ? (layout[edge.from] ?? []) : []))
  const all = Object.values(layout)
  const y = Math.max(0, ...all.map((position) => position.y)) + NODE_HEIGHT + 64
  const start = layout[START] ?? { x: 0, y: 0 }
  const xs = sources.length > 0 ? sources.map(({ x }) => x) : [start.x]
  const middle = (Math.min(...xs) + Math.max(...xs)) / 2
  return { x: middle + NODE_WIDTH / 2 - END_WIDTH / 2, y }
}

/** Ways through the graph for the arrow keys. */
export interface Ways {
  next(id: string): string[]
  before(id: string): string[]
}

export function waysOf(edges: readonly GraphEdge[]): Ways {
  const next = new Map<string, string[]>()
  const before = new Map<string, string[]>()
  for (const { from, to } of edges) {
    next.set(from, [...(next.get(from) ?? []), to])
    before.set(to, [...(before.get(to) ?? []), from])
  }
  return { next: (id) => next.get(id) ?? [], before: (id) => before.get(id) ?? [] }
}

/**
 * Where an arrow leads: down and up along the edges, left and right among what shares a way in or out; without such
 * neighbours right and left follow the edges, too.
 */
export function arrowTarget(ways: Ways, at: string, key: string): string | null {
  const down = ways.next(at)[0] ?? null
  const up = ways.before(at)[0] ?? null
  if (key === 'ArrowDown') return down
  if (key === 'ArrowUp') return up
  if (key !== 'ArrowRight' && key !== 'ArrowLeft') return null
  const siblings = ways.before(at).flatMap((parent) => ways.next(parent))
  const index = siblings.indexOf(at)
  const beside = siblings[index + (key === 'ArrowRight' ? 1 : -1)]
  if (siblings.length > 1) return beside ?? null
  return key === 'ArrowRight' ? down : up
}
