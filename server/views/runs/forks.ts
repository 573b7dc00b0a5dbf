import type { ServiceContext } from '../../context'
import { beginsBranch, type Exit, type ExitSpec, exitsOf, fixedExits } from '../../definition/exits'
import { graphOf } from '../../definition/graph'
import type { Definition, Step } from '../../definition/schema'
import { findDefinition } from '../../run-store/definition'
import { findStepType } from '../../steps/registry'
import type { Masker } from '../../vault/mask'
import { definitionsOver } from './moves'

/** The number of a visit's branches, and of ended ones by outcome. */
export interface ForkCounts {
  total: number
  succeeded: number
  failed: number
}

/** After every move. */
const NEVER = 8.64e15

interface Visited {
  stepId: string
  exit: string | null
  total: number | null
  /** In milliseconds; null while it is open. */
  end: number | null
}

interface Followed {
  workflowId: string
  workflowVersion: number
  /** Its moves, oldest first; null without any. */
  moves: { at: string; fromVersion: number }[] | null
}

/**
 * The labels of exits that were taken, and of the branches of forking steps, by step: those of the version that the run
 * followed at the step's last visit.
 */
export async function namesOf(ctx: ServiceContext, run: Followed, visits: readonly Visited[], masker: Masker) {
  const labels: Record<string, Record<string, string>> = {}
  const names: Record<string, [key: string, label: string][]> = {}
  const wanted = new Map(
    visits.filter(({ exit, total }) => exit !== null || total !== null).map(({ stepId, end }) => [stepId, end]),
  )
  if (wanted.size === 0) return { labels, names }
  const definitionAt = await definitionsOver(
    ctx,
    run,
    run.moves ?? [],
    await findDefinition(ctx, run.workflowId, run.workflowVersion),
  )
  for (const [stepId, end] of wanted) {
    const step = definitionAt(new Date(end ?? NEVER))?.steps.find(({ id }) => id === stepId)
    if (!step) continue
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
