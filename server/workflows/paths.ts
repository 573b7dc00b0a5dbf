import type { Definition } from './schema'

/** Every step a walk from `start` can come to. */
export function reachable(definition: Definition, start: string): Set<string> {
  const reached = new Set<string>()
  const open = [start]
  for (let stepId = open.pop(); stepId !== undefined; stepId = open.pop()) {
    if (reached.has(stepId)) continue
    reached.add(stepId)
    for (const edge of definition.edges) if (edge.from === stepId) open.push(edge.to)
  }
  return reached
}

/** The steps of the path that runs when a run is cancelled. */
export function cleanupSteps(definition: Definition): Set<string> {
  return definition.onCancel === undefined ? new Set() : reachable(definition, definition.onCancel)
}
