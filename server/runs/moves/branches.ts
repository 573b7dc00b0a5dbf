import { beginsBranch, exitOf } from '../../definition/exits'
import { canonicalJson } from '../../definition/json'
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
