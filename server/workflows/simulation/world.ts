import { exitOf, exitsOf, FAILURE_EXITS, fallsToNext } from '../../definition/exits'
import { expressionReferences } from '../../definition/expression/fields'
import { cyclesOf, graphOf } from '../../definition/graph'
import type { JsonObject } from '../../definition/json'
import { asideSteps, reachable } from '../../definition/paths'
import type { Definition, Step } from '../../definition/schema'
import type { Sliced } from '../../definition/sliced'
import { findReferences, type Reference } from '../../definition/template'
import { RESULT_FIELD, templatedConfig } from '../../definition/templated-config'
import { isKnown } from '../../definition/types/read'
import { suppliedIn } from '../../steps/define-step'
import { findStepType } from '../../steps/registry'
import { type Flow, flowing, type KnownOutput } from '../check/flow'
import { pinnedOutputs } from '../check/known-outputs'

/** The facts of a definition that a simulation uses. */
export interface World {
  definition: Definition
  outputs: ReadonlyMap<string, KnownOutput>
  /** Replace generated values, by step. */
  answers: JsonObject
  flow: Flow
  /** The exits that a walk may take, by step. */
  exits: ReadonlyMap<string, readonly string[]>
  /** The steps that iterate over a list. */
  lists: readonly string[]
  /** The steps that a run may reach. */
  reachable: ReadonlySet<string>
  /** The step that an exit leads to. */
  target: (stepId: string, exit: string) => string | null
  /** Whether an edge leaves a step by an exit. */
  leads: (stepId: string, exit: string) => boolean
  /** Whether an exit leads out of the loops that its step is in. */
  leavesLoop: (stepId: string, exit: string) => boolean
}

export function* lookAt(
  definition: Definition,
  outputs: ReadonlyMap<string, KnownOutput>,
  answers: JsonObject,
): Sliced<World> {
  const graph = graphOf(definition)
  const leads = (stepId: string, exit: string) => graph.target(stepId, exit) !== null
  const loops = cyclesOf(definition).map((ids) => new Set(ids))
  const starts = [definition.initialStep, ...asideSteps(definition)].filter((id) => id !== null)
  return {
    definition,
    outputs,
    answers,
    flow: yield* flowing(definition, pinnedOutputs(outputs)),
    exits: new Map(definition.steps.map((step) => [step.id, exitsToTake(step, definition)])),
    lists: definition.steps.flatMap(({ id, type }) => {
      const found = findStepType(type)
      return found?.mode === 'fork' && !found.merges ? [id] : []
    }),
    reachable: new Set(starts.flatMap((id) => [...reachable(definition, id)])),
    target: graph.target,
    leads,
    leavesLoop(stepId, exit) {
      const target = graph.target(stepId, exit)
      return target === null || !loops.some((ids) => ids.has(stepId) && ids.has(target))
    },
  }
}

function exitsToTake(step: Step, { edges }: Definition): string[] {
  const spec = findStepType(step.type)?.exits
  if (!spec) return []
  const all = exitsOf(spec, step).map(({ id }) => id)
  // Each possible answer counts as a path of its own, wherever it leads.
  const offers = all.some((id) => fallsToNext(spec, id))
  return all.filter((id) => {
    if (FAILURE_EXITS.includes(id)) return edges.some((edge) => edge.from === step.id && exitOf(edge) === id)
    return id !== 'next' || !offers
  })
}

/**
 * Whether everything that a step refers to is known well enough that generated values cannot be the cause of its
 * failure.
 */
export function isSure({ flow }: World, step: Step): boolean {
  const type = findStepType(step.type)
  const read = flow.reads(step.id)
  const references: Reference[] = [
    ...findReferences(templatedConfig(step)).references.map(({ reference }) => reference),
    ...expressionReferences(step)
      .references.filter(({ path, reference }) => !suppliedIn(type, path, reference.root))
      .map(({ reference }) => reference),
  ]
  if (!references.every((reference) => isKnown(reference, read))) return false
  const later = findReferences({ [RESULT_FIELD]: step[RESULT_FIELD] }).references
  return later.every(({ reference }) => isKnown(reference, flow.readsAfterBranch(step.id)))
}
