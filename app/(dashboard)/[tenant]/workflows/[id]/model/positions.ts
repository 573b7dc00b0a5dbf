import { own } from '@/server/definition/json'
import { backEdges } from '@/server/definition/loops'
import { reachable } from '@/server/definition/paths'
import type { Definition } from '@/server/definition/schema'
import type { Catalog } from '@/server/steps/catalog'
import { type Layout, type Position, START } from './definition'
import { ROW_HEIGHT } from './exit-row'
import { layoutRequest, NODE_HEIGHT, NODE_WIDTH } from './layout-request'

const GAP = 64

/** Stored positions: from the layout, or else from the steps as set by the API. */
export function knownPositions(definition: Definition, layout: Layout): Layout {
  const known: Layout = {}
  if (layout[START]) known[START] = layout[START]
  for (const step of definition.steps) {
    const position = own(layout, step.id) ?? positionIn(step.position)
    if (position) known[step.id] = position
  }
  return known
}

function positionIn(value: unknown): Position | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { x, y } = value as Partial<Record<'x' | 'y', unknown>>
  return typeof x === 'number' && typeof y === 'number' ? { x, y } : undefined
}

/** Whether no step has a position, so that the whole graph needs arranging. */
export function needsTidy(definition: Definition, layout: Layout): boolean {
  const known = knownPositions(definition, layout)
  return definition.steps.length > 1 && definition.steps.every((step) => !own(known, step.id))
}

/**
 * Quickly positions every node below the steps that lead to it and next to existing nodes. For the first paint and for
 * new steps; `tidyLayout` arranges them better.
 */
export function completeLayout(definition: Definition, layout: Layout, catalog?: Catalog): Layout {
  const placed = knownPositions(definition, layout)
  const { nodes, edges } = layoutRequest(definition, catalog)
  const heights = new Map(nodes.map(({ id, height }) => [id, height]))
  const sources = new Map<string, string[]>()
  for (const { from, to } of edges) sources.set(to, [...(sources.get(to) ?? []), from])
  const taken = Object.values(placed)
  const put = (id: string, wanted: Position) => {
    const position = { ...wanted }
    for (let hit = true; hit; ) {
      hit = false
      for (const other of taken) {
        if (!overlap(position, other)) continue
        position.x = other.x + NODE_WIDTH + GAP
        hit = true
      }
    }
    taken.push(position)
    placed[id] = position
  }
  if (!placed[START]) put(START, above(placed, definition.initialStep))
  let waiting = definition.steps.map((step) => step.id).filter((id) => !own(placed, id))
  while (waiting.length > 0) {
    const rest = waiting.filter((id) => {
      const parents = (sources.get(id) ?? []).flatMap((from) => {
        const at = own(placed, from)
        return at ? [{ x: at.x, bottom: at.y + (heights.get(from) ?? NODE_HEIGHT) }] : []
      })
      if (parents.length === 0) return true
      const y = Math.max(...parents.map(({ bottom }) => bottom)) + GAP
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
  const first = stepId === null ? undefined : own(placed, stepId)
  return first ? { x: first.x, y: first.y - NODE_HEIGHT - GAP } : { x: 0, y: 0 }
}

function rightOf(placed: Layout): number {
  return Math.max(...Object.values(placed).map(({ x }) => x), 0) + NODE_WIDTH + GAP
}

/** Whether two nodes would overlap; either may have a row of exits. */
function overlap(a: Position, b: Position): boolean {
  return Math.abs(a.x - b.x) < NODE_WIDTH && Math.abs(a.y - b.y) < NODE_HEIGHT + ROW_HEIGHT
}

export function renameInLayout(layout: Layout, from: string, to: string): Layout {
  return Object.fromEntries(Object.entries(layout).map(([id, position]) => [id === from ? to : id, position]))
}

/**
 * The layout with a new step below the exit that leads to it. Steps that follow it or are in its way move down.
 * @param ways the number of exits of the step before, and the index of the one that leads to the new step: each gets a
 * column
 */
export function placeAfter(
  definition: Definition,
  layout: Layout,
  before: { position: Position; height: number; width: number },
  ways: { index: number; count: number },
  stepId: string,
): Layout {
  const column = ways.count < 2 ? 0 : (ways.index - (ways.count - 1) / 2) * (NODE_WIDTH + GAP)
  const middle = before.position.x + before.width / 2 + column
  const at = { x: Math.round(middle - NODE_WIDTH / 2), y: before.position.y + before.height + GAP }
  const back = backEdges(definition)
  const after = reachable({ ...definition, edges: definition.edges.filter((edge) => !back.has(edge)) }, stepId)
  return { ...makeRoom(layout, at, stepId, after), [stepId]: at }
}

/** Makes room for a step by moving down those below it that follow it or are in its way. */
export function makeRoom(
  layout: Layout,
  at: Position,
  except: string,
  following: ReadonlySet<string> = new Set(),
): Layout {
  const isBelow = (position: Position) => position.y >= at.y - GAP / 2
  const inTheWay = (position: Position) => isBelow(position) && Math.abs(position.x - at.x) < NODE_WIDTH
  const blocked = Object.entries(layout).some(
    ([id, position]) => id !== except && inTheWay(position) && position.y < at.y + NODE_HEIGHT + GAP,
  )
  if (!blocked) return layout
  const down = NODE_HEIGHT + GAP
  return Object.fromEntries(
    Object.entries(layout).map(([id, position]) =>
      id !== except && (inTheWay(position) || (following.has(id) && isBelow(position)))
        ? [id, { ...position, y: position.y + down }]
        : [id, position],
    ),
  )
}
