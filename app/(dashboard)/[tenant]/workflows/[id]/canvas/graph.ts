import { exitOf, FAILURE_EXITS, fallsToNext } from '@/server/definition/exits'
import type { Definition } from '@/server/definition/schema'
import type { Catalog } from '@/server/steps/catalog'
import { entryOf, exitLabel, exitsOf, type Layout, type Position, START } from '../model/definition'
import { NODE_HEIGHT, NODE_WIDTH } from '../model/layout-request'

/** The END node of the canvas. It is never stored. */
export const END = '#end'
export const END_WIDTH = 96
export const END_HEIGHT = 40

/** A line on the canvas. `implicit` goes to END because no step follows; `end` because the step ends the run. */
export interface GraphEdge {
  id: string
  from: string
  exit: string
  to: string
  label: string
  kind: 'edge' | 'implicit' | 'end'
}

/** Every line on the canvas, including those from START and to END. */
export function graphEdges(definition: Definition, catalog: Catalog): GraphEdge[] {
  const { steps, edges, initialStep } = definition
  const ids = new Set(steps.map(({ id }) => id))
  const drawn: GraphEdge[] = []
  const add = (kind: GraphEdge['kind'], from: string, exit: string, to: string) =>
    drawn.push({
      id: `${from} ${exit} ${to}`,
      from,
      exit,
      to,
      label: exit === 'next' ? '' : exitLabel(exitsOf(definition, catalog, from), exit),
      kind,
    })
  if (initialStep !== null && ids.has(initialStep)) add('edge', START, 'next', initialStep)
  const leaving = new Map<string, Set<string>>()
  for (const edge of edges) {
    if (!ids.has(edge.from) || !ids.has(edge.to)) continue
    const exit = exitOf(edge)
    add('edge', edge.from, exit, edge.to)
    leaving.set(edge.from, (leaving.get(edge.from) ?? new Set()).add(exit))
  }
  const reached = new Set(drawn.map(({ to }) => to))
  for (const step of steps) {
    // A step that no step leads to does not lead to END either.
    if (!reached.has(step.id) && step.id !== definition.onCancel) continue
    const entry = entryOf(catalog, step.type)
    const exits = exitsOf(definition, catalog, step.id)
    if (entry && exits.length === 0) add('end', step.id, 'next', END)
    for (const { id } of exits) {
      const optional = FAILURE_EXITS.includes(id) || (entry && fallsToNext(entry.exits, id))
      if (!optional && !leaving.get(step.id)?.has(id)) add('implicit', step.id, id, END)
    }
  }
  return drawn
}

/** END goes below everything, centred under the steps that lead to it. */
export function endPosition(edges: readonly GraphEdge[], layout: Layout): Position {
  const sources = edges.flatMap((edge) => (edge.to === END ? (layout[edge.from] ?? []) : []))
  const all = Object.values(layout)
  const y = Math.max(0, ...all.map((position) => position.y)) + NODE_HEIGHT + 64
  const start = layout[START] ?? { x: 0, y: 0 }
  const xs = sources.length > 0 ? sources.map(({ x }) => x) : [start.x]
  const middle = (Math.min(...xs) + Math.max(...xs)) / 2
  return { x: middle + NODE_WIDTH / 2 - END_WIDTH / 2, y }
}

/** The neighbours of each node, for the arrow keys. */
export interface Neighbours {
  next(id: string): string[]
  before(id: string): string[]
}

export function neighboursOf(edges: readonly GraphEdge[]): Neighbours {
  const next = new Map<string, string[]>()
  const before = new Map<string, string[]>()
  for (const { from, to } of edges) {
    next.set(from, [...(next.get(from) ?? []), to])
    before.set(to, [...(before.get(to) ?? []), from])
  }
  return { next: (id) => next.get(id) ?? [], before: (id) => before.get(id) ?? [] }
}

/**
 * Where an arrow key goes: down and up along the edges, left and right among siblings. Without siblings, right and left
 * follow the edges too.
 */
export function arrowTarget(neighbours: Neighbours, at: string, key: string): string | null {
  const down = neighbours.next(at)[0] ?? null
  const up = neighbours.before(at)[0] ?? null
  if (key === 'ArrowDown') return down
  if (key === 'ArrowUp') return up
  if (key !== 'ArrowRight' && key !== 'ArrowLeft') return null
  const siblings = neighbours.before(at).flatMap((parent) => neighbours.next(parent))
  const index = siblings.indexOf(at)
  const beside = siblings[index + (key === 'ArrowRight' ? 1 : -1)]
  if (siblings.length > 1) return beside ?? null
  return key === 'ArrowRight' ? down : up
}
