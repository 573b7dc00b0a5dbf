import type { Definition } from '@/server/definition/schema'
import { START } from './definition'

/** The size of a node on the canvas unless it was measured. */
export const NODE_WIDTH = 248
export const NODE_HEIGHT = 72

export interface LayoutRequest {
  nodes: { id: string; width: number; height: number }[]
  edges: { from: string; to: string }[]
}

/** Measured sizes of nodes, by id. */
export type Sizes = ReadonlyMap<string, { width: number; height: number }>

export function layoutRequest(definition: Definition, sizes: Sizes = new Map()): LayoutRequest {
  const size = (id: string) => sizes.get(id) ?? { width: NODE_WIDTH, height: NODE_HEIGHT }
  const ids = [START, ...new Set(definition.steps.map((step) => step.id))]
  const known = new Set(ids)
  const edges = definition.edges
    .filter((edge) => known.has(edge.from) && known.has(edge.to))
    .map(({ from, to }) => ({ from, to }))
  const { initialStep } = definition
  const first = initialStep !== null && known.has(initialStep) ? [{ from: START, to: initialStep }] : []
  return { nodes: ids.map((id) => ({ id, ...size(id) })), edges: [...first, ...edges] }
}
