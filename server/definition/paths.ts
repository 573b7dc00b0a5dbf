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

/**
 * The steps that come after a place in one version, and that did not come after the place that stands for it in another.
 * @param was.at null if no place does
 */
export function newlyAhead(
  was: { definition: Definition; at: string | null },
  now: { definition: Definition; at: string },
): Set<string> {
  const before = was.at === null ? new Set() : reachable(was.definition, was.at)
  return new Set([...reachable(now.definition, now.at)].filter((stepId) => !before.has(stepId)))
}

/** The first steps of the paths that a run takes when it is cancelled or fails. */
export function asideSteps({ onCancel, onFailure }: Pick<Definition, 'onCancel' | 'onFailure'>): string[] {
  return [onCancel, onFailure].filter((id) => id !== undefined)
}

/** The steps of the cleanup path and of the failure path. */
export function stepsAside(definition: Definition): Set<string> {
  return new Set(asideSteps(definition).flatMap((first) => [...reachable(definition, first)]))
}
