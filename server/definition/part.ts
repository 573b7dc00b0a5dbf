import { beginsBranch, type ExitSpec, exitOf, fallsToNext } from './exits'
import { regionsOf } from './regions'
import type { Definition, Step } from './schema'

/** The part of its version that a test run performs: the path to a step including that step, or only that step. */
export type RunPart = { to: string } | { only: string }

/** The target of an edge at which a part ends. No step has this id. */
export const NOWHERE = ''

/** The step that a part ends with. */
export function lastOf(part: RunPart): string {
  return 'to' in part ? part.to : part.only
}

/**
 * The steps that a part may perform: those on the way to its last step, and all branches of those that fork. Branches
 * beside the last step also run, because the step that forks waits for them.
 * @param specOf the exits of a step's type; undefined for an unknown type
 */
export function stepsOfPart(
  definition: Definition,
  part: RunPart,
  specOf: (step: Step) => ExitSpec | undefined,
): Set<string> {
  const last = lastOf(part)
  const kept = new Set([last])
  if ('to' in part) {
    const arriving = new Map<string, string[]>()
    for (const { from, to } of definition.edges) arriving.set(to, [...(arriving.get(to) ?? []), from])
    for (const id of kept) for (const from of arriving.get(id) ?? []) kept.add(from)
  }
  // A branch that contains the last step ends there.
  for (const { fork, steps } of regionsOf(definition, specOf))
    if (kept.has(fork) && !steps.has(last)) for (const id of steps) kept.add(id)
  return kept
}

/**
 * A definition as read by a run that performs only a part of it. It ends after the part's last step, on any path there,
 * and a path that leaves the way to that step ends where it leaves it. The failure path and the cleanup path are not
 * part of it.
 */
export function partOf(
  definition: Definition,
  part: RunPart,
  specOf: (step: Step) => ExitSpec | undefined,
): Definition {
  const last = lastOf(part)
  const kept = stepsOfPart(definition, part, specOf)
  const specs = new Map(definition.steps.map((step) => [step.id, specOf(step) ?? []]))
  const regions = regionsOf(definition, specOf)
  // Once the last step has ended in a branch, nothing follows the forks around it either.
  const ends = new Set([last, ...regions.flatMap(({ fork, steps }) => (steps.has(last) ? [fork] : []))])
  const edges = definition.edges.flatMap((edge) => {
    const spec = specs.get(edge.from) ?? []
    const exit = exitOf(edge)
    if (!kept.has(edge.from) || (ends.has(edge.from) && !beginsBranch(spec, exit))) return []
    if (kept.has(edge.to)) return [edge]
    // Without its edge, such an exit would lead where `next` does.
    return fallsToNext(spec, exit) ? [{ ...edge, to: NOWHERE }] : []
  })
  const { onCancel: _cleanup, onFailure: _failure, ...rest } = definition
  return { ...rest, initialStep: 'only' in part ? part.only : definition.initialStep, edges }
}
