import type { ServiceContext } from '../../context'
import { beginsBranch, type Exit, type ExitSpec, exitsOf, fixedExits } from '../../definition/exits'
import { graphOf } from '../../definition/graph'
import type { Definition, Step } from '../../definition/schema'
import { findDefinition } from '../../run-store/definition'
import { findStepType } from '../../steps/registry'
import type { Masker } from '../../vault/mask'

/** The number of a visit's branches, and of ended ones by outcome. */
export interface ForkCounts {
  total: number
  succeeded: number
  failed: number
}

interface Visited {
  stepId: string
  exit: string | null
  total: number | null
}

/** The labels of exits that were taken, and of the branches of forking steps, by step. */
export async function namesOf(
  ctx: ServiceContext,
  run: { workflowId: string; workflowVersion: number },
  visits: readonly Visited[],
  masker: Masker,
) {
  const labels: Record<string, Record<string, string>> = {}
  const names: Record<string, [key: string, label: string][]> = {}
  const wanted = new Set(
    visits.filter(({ exit, total }) => exit !== null || total !== null).map(({ stepId }) => stepId),
  )
  const definition = wanted.size > 0 ? await findDefinition(ctx, run.workflowId, run.workflowVersion) : null
  for (const step of definition?.steps ?? []) {
    if (!wanted.has(step.id)) continue
    const spec = findStepType(step.type)?.exits ?? []
    const exits = exitsOf(spec, step)
    labels[step.id] = Object.fromEntries(exits.map(({ id, label }) => [id, masker.text(label)]))
    const branches = namedBranches(spec, exits)
    if (branches.length > 0) names[step.id] = branches.map(({ id, label }) => [id, masker.text(label)])
  }
  return { labels, names }
}

/** The branches with an exit of their own, in order. A list's iterations have none. */
function namedBranches(spec: ExitSpec, exits: readonly Exit[]): Exit[] {
  return exits.filter(({ id }) => beginsBranch(spec, id) && !fixedExits(spec).includes(id))
}

/** The first step of each named branch of a step, and of all its other branches. */
export function firstSteps(definition: Definition, step: Step) {
  const spec = findStepType(step.type)?.exits ?? []
  const { target } = graphOf(definition)
  const first = (exit: string | undefined) => (exit === undefined ? null : target(step.id, exit))
  return {
    named: Object.fromEntries(namedBranches(spec, exitsOf(spec, step)).map(({ id }) => [id, first(id)])),
    other: first(fixedExits(spec).find((exit) => beginsBranch(spec, exit))),
  }
}
