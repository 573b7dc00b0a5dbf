import type { Definition } from '@/server/definition/schema'
import { type Layout, type Position, START } from './definition'
import { layoutRequest, NODE_HEIGHT, NODE_WIDTH } from './layout-request'

const GAP = 64

/** Stored positions: from the layout, else those the API gave the steps. */
export function knownPositions(definition: Definition, layout: Layout): Layout {
  const known: Layout = {}
  if (layout[START]) known[START] = layout[START]
  for (const step of definition.steps) {
    const position = Object.hasOwn(layout, step.id) ? layout[step.id] : positionIn(step.position)
    if (position) known[step.id] = position
  }
  return known
}

function positionIn(value: unknown): Position | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { x, y } = value as Partial<Record<'x' | 'y', unknown>>
  return typeof x === 'number' && typeof y === 'number' ? { x, y } : undefined
}

/** Whether no step has a position, so that the whole graph has to be arranged. */
export function needsTidy(definition: Definition, layout: Layout): boolean {
  const known = knownPositions(definition, layout)
  return definition.steps.length > 1 && definition.steps.every((step) => !known[step.id])
}

/**
 * Quickly places every node below the steps that lead to it and beside what is already there. For the first paint and
 * for new steps; `tidyLayout` arranges them better.
 */
export function completeLayout(definition: Definition, layout: Layout): Layout {
  const placed = knownPositions(definition, layout)
  const { edges } = layoutRequest(definition)
  const sources = new Map<string, string[]>()
  for (const { from, to } of edges) sources.set(to, [...(sources.get(to) ?? []), from])
  const taken = new Set(Object.values(placed).map(cell))
  const put = (id: string, wanted: Position) => {
    const position = { ...wanted }
    while (taken.has(cell(position))) position.x += NODE_WIDTH + GAP
    taken.add(cell(position))
    placed[id] = position
  }
  if (!placed[START]) put(START, above(placed, definition.initialStep))
  let waiting = definition.steps.map((step) => step.id).filter((id) => !placed[id])
  while (waiting.length > 0) {
    const rest = waiting.filter((id) => {
      const parents = (sources.get(id) ?? []).flatMap((from) => placed[from] ?? [])
      if (parents.length === 0) return true
      const y = Math.max(...parents.map((parent) => parent.y)) + NODE_HEIGHT + GAP
      put(id, { x: Math.min(...parents.map((parent) => parent.x)), y })
      return false
    })
    // No placed step leads to the rest, so the next one starts a new column.
    const [lost, ...others] = rest
    if (rest.length === waiting.length && lost !== undefined) {
      put(lost, { x: rightOf(placed), y: 0 })
      waiting = others
    } else waiting = rest
  }
  return placed
}

function above(placed: Layout, stepId: string | null): Position {
  const first = stepId === null ? undefined : placed[stepId]
  return first ? { x: first.x, y: first.y - NODE_HEIGHT - GAP } : { x: 0, y: 0 }
}

function rightOf(placed: Layout): number {
  return Math.max(...Object.values(placed).map(({ x }) => x), 0) + NODE_WIDTH + GAP
}

/** Two nodes in one cell would overlap. */
function cell({ x, y }: Position): string {
  return `${Math.round(x / NODE_WIDTH)}:${Math.round(y / NODE_HEIGHT)}`
}

/** The layout after a step was renamed. */
export function renameInLayout(layout: Layout, from: string, to: string): Layout {
  return Object.fromEntries(Object.entries(layout).map(([id, position]) => [id === from ? to : id, position]))
}

/** Makes room for a step between two others by moving those below it down. */
export function makeRoom(layout: Layout, at: Position, except: string): Layout {
  const down = NODE_HEIGHT + GAP
  return Object.fromEntries(
    Object.entries(layout).map(([id, position]) =>
      id !== except && position.y >= at.y && Math.abs(position.x - at.x) < NODE_WIDTH
        ? [id, { ...position, y: position.y + down }]
        : [id, position],
    ),
  )
}
