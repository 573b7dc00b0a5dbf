import { beginsBranch, exitOf, FAILURE_EXITS, fallsToNext } from '@/server/definition/exits'
import { backEdges, boundOf } from '@/server/definition/loops'
import { asideSteps, edgesBySource } from '@/server/definition/paths'
import { regionsOf } from '@/server/definition/regions'
import type { Definition } from '@/server/definition/schema'
import type { Catalog } from '@/server/steps/catalog'
import { entryOf, type Layout, type Position, START } from '../model/definition'
import { handleAt, NODE_HEIGHT, NODE_WIDTH, type ShownExit, shownExits, sizeOf } from '../model/exit-row'
import { withHeights } from './heights'
import { type Box, type Lane, lanesOf } from './lines'

/** The END node of the canvas. It is never stored. */
export const END = '#end'
export const END_WIDTH = 96
export const END_HEIGHT = 40

/**
 * A line on the canvas. `back` leads back into a loop; `implicit` goes to END because no step follows; `end` because the
 * step ends the run.
 */
export interface GraphEdge {
  id: string
  from: string
  exit: string
  to: string
  label: string
  kind: 'edge' | 'back' | 'implicit' | 'end'
  failure: boolean
  /** How often a run can take a line that leads back; null without a limit. */
  bound: number | null
}

/** The exits of every node but END, as drawn. */
export function graphExits(definition: Definition, catalog: Catalog): Map<string, ShownExit[]> {
  const leaving = edgesBySource(definition.edges)
  const used = definition.initialStep !== null
  return new Map<string, ShownExit[]>([
    [START, [{ id: 'next', label: 'Next', tier: 'only', used }]],
    ...definition.steps.map((step): [string, ShownExit[]] => [
      step.id,
      shownExits(step, catalog, leaving.get(step.id) ?? []),
    ]),
  ])
}

/** Every line on the canvas, including those from START and to END. */
export function graphEdges(
  definition: Definition,
  catalog: Catalog,
  exits = graphExits(definition, catalog),
): GraphEdge[] {
  const { steps, edges, initialStep } = definition
  const ids = new Set(steps.map(({ id }) => id))
  const back = backEdges(definition)
  const drawn: GraphEdge[] = []
  const add = (kind: GraphEdge['kind'], from: string, exit: string, to: string, bound: number | null = null) => {
    const shown = exits.get(from)?.find(({ id }) => id === exit)
    drawn.push({
      id: `${from} ${exit} ${to}`,
      from,
      exit,
      to,
      label: shown && shown.tier !== 'only' ? shown.label : '',
      kind,
      failure: FAILURE_EXITS.includes(exit),
      bound,
    })
  }
  if (initialStep !== null && ids.has(initialStep)) add('edge', START, 'next', initialStep)
  for (const edge of edges) {
    if (!ids.has(edge.from) || !ids.has(edge.to)) continue
    if (back.has(edge)) add('back', edge.from, exitOf(edge), edge.to, boundOf(definition, edge))
    else add('edge', edge.from, exitOf(edge), edge.to)
  }
  const reached = new Set(drawn.map(({ to }) => to))
  // Here a branch's path ends, not the run.
  const inBranch = new Set(
    regionsOf(definition, ({ type }) => entryOf(catalog, type)?.exits).flatMap((region) => [...region.steps]),
  )
  for (const step of steps) {
    // An unreachable step does not lead to END either.
    if (!reached.has(step.id) && !asideSteps(definition).includes(step.id)) continue
    if (!inBranch.has(step.id))
      for (const exit of openEnds(step.type, catalog, exits.get(step.id) ?? [])) add('implicit', step.id, exit, END)
    if (exits.get(step.id)?.length === 0) add('end', step.id, 'next', END)
  }
  return drawn
}

/** The exits at which a run would end: unused, with no other exit taken instead. */
function openEnds(type: string, catalog: Catalog, exits: readonly ShownExit[]): string[] {
  const spec = entryOf(catalog, type)?.exits
  const falls = ({ id }: ShownExit) => spec !== undefined && fallsToNext(spec, id)
  const actions = exits.filter(falls)
  // If every action has its own connection, no run takes the rest.
  const taken = actions.length > 0 && actions.every(({ used }) => used)
  return exits
    .filter(({ id }) => spec === undefined || !beginsBranch(spec, id))
    .filter((exit) => !exit.used && exit.tier !== 'failure' && !falls(exit) && !(exit.tier === 'rest' && taken))
    .map(({ id }) => id)
}

/** END goes below everything, centred under the steps that lead to it. */
export function endPosition(
  edges: readonly GraphEdge[],
  layout: Layout,
  exits: ReadonlyMap<string, readonly ShownExit[]> = new Map(),
): Position {
  const middleOf = (id: string, x: number) => x + sizeOf(exits.get(id) ?? []).width / 2
  const sources = edges.flatMap(({ from, to }) => {
    const at = layout[from]
    return to === END && at ? [middleOf(from, at.x)] : []
  })
  const bottoms = Object.entries(layout).map(([id, { y }]) => y + sizeOf(exits.get(id) ?? []).height)
  const y = Math.max(NODE_HEIGHT, ...bottoms) + 64
  const xs = sources.length > 0 ? sources : [(layout[START]?.x ?? 0) + NODE_WIDTH / 2]
  return { x: (Math.min(...xs) + Math.max(...xs)) / 2 - END_WIDTH / 2, y }
}

/** The neighbours of each node, for the arrow keys. */
export interface Neighbours {
  next(id: string): string[]
  before(id: string): string[]
}

export function neighboursOf(edges: readonly GraphEdge[]): Neighbours {
  const next = new Map<string, string[]>()
  const before = new Map<string, string[]>()
  // A line that leads back comes last, so that down and up follow the path.
  const forwardFirst = edges.toSorted((a, b) => Number(a.kind === 'back') - Number(b.kind === 'back'))
  for (const { from, to } of forwardFirst) {
    next.set(from, [...(next.get(from) ?? []), to])
    before.set(to, [...(before.get(to) ?? []), from])
  }
  return { next: (id) => next.get(id) ?? [], before: (id) => before.get(id) ?? [] }
}

/**
 * The target of an arrow key: down and up along the edges, left and right among siblings. Without siblings, right and
 * left follow the edges too.
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

/** The routes of lines around nodes, by the line's id. */
export function lanesIn(
  edges: readonly GraphEdge[],
  exits: ReadonlyMap<string, readonly ShownExit[]>,
  layout: Layout,
  end: Position,
): Map<string, Lane> {
  const boxes = new Map<string, Box>()
  for (const [id, shown] of exits) {
    const at = layout[id]
    if (at) boxes.set(id, { ...at, ...sizeOf(shown) })
  }
  const lines = edges.flatMap(({ id, from, exit, to, failure }) => {
    const source = boxes.get(from)
    const target = to === END ? { ...end, width: END_WIDTH } : boxes.get(to)
    if (!source || !target) return []
    const handle = handleAt(exits.get(from) ?? [], exit)
    const start = { x: source.x + handle.x, y: source.y + handle.y }
    return [{ id, from, to, start, end: { x: target.x + target.width / 2, y: target.y }, sideways: failure }]
  })
  return withHeights(lines, lanesOf(lines, boxes))
}
