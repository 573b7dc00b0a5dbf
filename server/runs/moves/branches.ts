import { branchesAround, originOf } from '../../definition/branches'
import { beginsBranch, exitOf } from '../../definition/exits'
import { canonicalJson } from '../../definition/json'
import { asideSteps, reachable } from '../../definition/paths'
import type { Definition } from '../../definition/schema'
import { findStepType } from '../../steps/registry'
import { bodiesOf } from '../../workflows/check/regions'

/**
 * Whether a step that forks is the same in two versions, with everything in its branches: steps with the versions that
 * they use, and the edges between them. The step itself may lead elsewhere once they have ended.
 */
export function sameBranches({ from, to }: { from: Definition; to: Definition }, fork: string): boolean {
  return textOf(from, fork) === textOf(to, fork)
}

/** Whether a step is in branches of the same steps that fork as a walk: otherwise the walk would end with such a branch. */
export function isInBranchesOf(definition: Definition, stepId: string, branch: string): boolean {
  const forks = new Set(branchesAround(branch).map((one) => originOf(one)?.stepId))
  const begins = [definition.initialStep, ...asideSteps(definition)].filter((id) => id !== null)
  // Nothing begins a branch of a step that is never reached.
  const reached = new Set(begins.flatMap((first) => [...reachable(definition, first)]))
  const around = new Set(
    bodiesOf(definition).flatMap(({ fork, steps }) => (steps.has(stepId) && reached.has(fork) ? [fork] : [])),
  )
  return forks.size === around.size && [...around].every((fork) => forks.has(fork))
}

function textOf(definition: Definition, fork: string): string {
  const bodies = bodiesOf(definition).filter((body) => body.fork === fork)
  const inside = new Set(bodies.flatMap(({ steps }) => [...steps]))
  const spec = findStepType(definition.steps.find(({ id }) => id === fork)?.type ?? '')?.exits
  const steps = definition.steps.filter(({ id }) => id === fork || inside.has(id))
  const edges = definition.edges.filter(
    (edge) => inside.has(edge.from) || (edge.from === fork && spec !== undefined && beginsBranch(spec, exitOf(edge))),
  )
  const sorted = (all: readonly object[]) => all.map((one) => canonicalJson(JSON.parse(JSON.stringify(one)))).sort()
  return JSON.stringify([sorted(steps), sorted(edges)])
}
