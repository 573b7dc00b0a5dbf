import { exitOf } from '@/server/definition/exits'
import { backEdges } from '@/server/definition/loops'
import type { Definition } from '@/server/definition/schema'
import type { Catalog } from '@/server/steps/catalog'
import { exitsOf, START } from './definition'
import { NODE_HEIGHT, NODE_WIDTH, sizesOf } from './exit-row'

export { NODE_HEIGHT, NODE_WIDTH }

export interface LayoutRequest {
  nodes: { id: string; width: number; height: number }[]
  edges: { from: string; to: string }[]
}

/**
 * The graph to arrange: without the edges that lead back, so that a loop reads from top to bottom, and with a step's
 * branches in the order of its exits.
 * @param catalog without it, every node has the same size
 */
export function layoutRequest(definition: Definition, catalog?: Catalog): LayoutRequest {
  const sizes = catalog ? sizesOf(definition, catalog) : new Map()
  const ids = [START, ...new Set(definition.steps.map((step) => step.id))]
  const known = new Set(ids)
  const back = backEdges(definition)
  const order = new Map<string, string[]>()
  const rank = (from: string, exit: string) => {
    const exits = order.get(from) ?? (catalog ? exitsOf(definition, catalog, from).map(({ id }) => id) : [])
    order.set(from, exits)
    return exits.indexOf(exit)
  }
  const edges = definition.edges
    .filter((edge) => known.has(edge.from) && known.has(edge.to) && !back.has(edge))
    .toSorted((a, b) => (a.from === b.from ? rank(a.from, exitOf(a)) - rank(b.from, exitOf(b)) : 0))
    .map(({ from, to }) => ({ from, to }))
  const { initialStep } = definition
  const first = initialStep !== null && known.has(initialStep) ? [{ from: START, to: initialStep }] : []
  const size = (id: string) => sizes.get(id) ?? { width: NODE_WIDTH, height: NODE_HEIGHT }
  return { nodes: ids.map((id) => ({ id, ...size(id) })), edges: [...first, ...edges] }
}
