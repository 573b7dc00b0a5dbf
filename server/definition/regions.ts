import { beginsBranch, type ExitSpec, exitOf } from './exits'
import { edgesBySource } from './paths'
import type { Definition, Edge, Step } from './schema'

/** The body of a branch: every step that the exit of a step leads to. */
export interface Region {
  fork: string
  exit: string
  steps: Set<string>
}

/**
 * The bodies of all branches, in the order of the steps and their edges. An exit without an edge has none.
 * @param specOf the exits of a step's type; undefined if there is no such type
 */
export function regionsOf(definition: Definition, specOf: (step: Step) => ExitSpec | undefined): Region[] {
  const leaving = edgesBySource(definition.edges)
  return definition.steps.flatMap((step) => {
    const spec = specOf(step)
    if (!spec) return []
    return (leaving.get(step.id) ?? [])
      .filter((edge) => beginsBranch(spec, exitOf(edge)))
      .map((edge) => ({ fork: step.id, exit: exitOf(edge), steps: reachedFrom(edge.to, leaving) }))
  })
}

function reachedFrom(start: string, leaving: Map<string, Edge[]>): Set<string> {
  const reached = new Set<string>([start])
  for (const id of reached) for (const { to } of leaving.get(id) ?? []) reached.add(to)
  return reached
}
