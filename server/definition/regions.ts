import { beginsBranch, type ExitSpec, exitOf } from './exits'
import { asideSteps, edgesBySource, reachable } from './paths'
import type { Definition, Edge, Step } from './schema'

/** The body of a branch: every step that the exit of a step leads to. */
export interface Region {
  fork: string
  exit: string
  steps: Set<string>
}

/**
 * The bodies of all branches, in the order of the steps and their edges. An exit without an edge has no body.
 * @param specOf the exits of a step's type; undefined for an unknown type
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

/** A path that enters a body other than through the exit of its step; without `from`, a path that begins there. */
export interface Crossing {
  region: Region
  stepId: string
  from?: string
}

/**
 * A body may be entered only through the exit of its step: otherwise a run would enter the middle of a branch that was
 * never started, or leave one unfinished. A body that leads back to its own step is also such a crossing.
 */
export function crossingsOf(definition: Definition, regions: readonly Region[]): Crossing[] {
  if (regions.length === 0) return []
  const begins = [definition.initialStep, ...asideSteps(definition)].filter((id) => id !== null)
  // Unreachable steps enter nothing.
  const reached = new Set(begins.flatMap((first) => [...reachable(definition, first)]))
  return regions.flatMap((region): Crossing[] => {
    const { fork, exit, steps } = region
    if (steps.has(fork)) return [{ region, stepId: fork }]
    const entering = definition.edges.filter(
      (edge) =>
        steps.has(edge.to) &&
        !steps.has(edge.from) &&
        reached.has(edge.from) &&
        !(edge.from === fork && exitOf(edge) === exit),
    )
    return [
      ...entering.map(({ from, to }) => ({ region, stepId: to, from })),
      ...begins.filter((first) => steps.has(first)).map((stepId) => ({ region, stepId })),
    ]
  })
}

function reachedFrom(start: string, leaving: Map<string, Edge[]>): Set<string> {
  const reached = new Set<string>([start])
  for (const id of reached) for (const { to } of leaving.get(id) ?? []) reached.add(to)
  return reached
}
