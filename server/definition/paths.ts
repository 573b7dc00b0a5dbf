import type { Definition, Edge } from './schema'

/** The edges that leave each step. */
export function edgesBySource(edges: readonly Edge[]): Map<string, Edge[]> {
  const leaving = new Map<string, Edge[]>()
  for (const edge of edges) {
    const known = leaving.get(edge.from)
    if (known) known.push(edge)
    else leaving.set(edge.from, [edge])
  }
  return leaving
}

/** Every step a walk from `start` can reach. */
export function reachable(definition: Definition, start: string): Set<string> {
  const leaving = edgesBySource(definition.edges)
  const reached = new Set<string>()
  const open = [start]
  for (let stepId = open.pop(); stepId !== undefined; stepId = open.pop()) {
    if (reached.has(stepId)) continue
    reached.add(stepId)
    for (const edge of leaving.get(stepId) ?? []) open.push(edge.to)
  }
  return reached
}

/** The steps of the cleanup path. */
export function cleanupSteps(definition: Definition): Set<string> {
  return definition.onCancel === undefined ? new Set() : reachable(definition, definition.onCancel)
}
