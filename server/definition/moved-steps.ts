import type { ExitSpec } from './exits'
import { regionsOf } from './regions'
import type { Definition, Step } from './schema'

/** With more steps than this in another place, all of them count as moved, also those that only follow a moved one. */
const MAX = 50

/**
 * The steps that both definitions have in another place: in another body, or with other common steps before them. The
 * fewest that explain it: if two neighbours change places, one has moved, and what follows them has not. Only a connection
 * that comes or goes moves nothing.
 */
export function movedSteps(
  before: Definition,
  after: Definition,
  specOf: (step: Step) => ExitSpec | undefined,
): Set<string> {
  const later = new Set(after.steps.map(({ id }) => id))
  const common = new Set(before.steps.map(({ id }) => id).filter((id) => later.has(id)))
  const [bodies, bodiesNow] = [bodiesOf(before, specOf), bodiesOf(after, specOf)]
  const moved = new Set([...common].filter((id) => bodies.get(id) !== bodiesNow.get(id)))
  for (const id of moved) common.delete(id)
  const [was, is] = [leadingTo(before), leadingTo(after)]
  const differs = (id: string) => otherSteps(stepsBefore(id, was, common), stepsBefore(id, is, common))
  const candidates = [...common].filter(differs)
  for (const id of candidates) common.delete(id)
  if (candidates.length <= MAX) {
    let apart = [...common].filter(differs).length
    for (const id of candidates) {
      common.add(id)
      const now = [...common].filter(differs).length
      if (now > apart) common.delete(id)
      else apart = now
    }
  }
  for (const id of candidates) if (!common.has(id)) moved.add(id)
  return moved
}

/** The bodies that each step is in, as a text. */
function bodiesOf(definition: Definition, specOf: (step: Step) => ExitSpec | undefined): Map<string, string> {
  const bodies = new Map<string, string[]>()
  for (const { fork, exit, steps } of regionsOf(definition, specOf))
    for (const id of steps) bodies.set(id, [...(bodies.get(id) ?? []), JSON.stringify([fork, exit])])
  return new Map([...bodies].map(([id, names]) => [id, names.sort().join()]))
}

/** The steps that lead to each step, and how paths begin. */
function leadingTo({ edges, initialStep, onCancel, onFailure }: Definition): Map<string, Set<string>> {
  const leading = new Map<string, Set<string>>()
  const add = (to: string, from: string) => leading.set(to, (leading.get(to) ?? new Set<string>()).add(from))
  if (initialStep !== null) add(initialStep, '#start')
  if (onCancel !== undefined) add(onCancel, '#cancel')
  if (onFailure !== undefined) add(onFailure, '#failure')
  for (const { from, to } of edges) add(to, from)
  return leading
}

/** The nearest steps before one that count, and beginnings of paths. */
function stepsBefore(id: string, leading: Map<string, Set<string>>, counting: ReadonlySet<string>): Set<string> {
  const found = new Set<string>()
  const open = [id]
  const seen = new Set(open)
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    for (const from of leading.get(at) ?? []) {
      if (counting.has(from) || from.startsWith('#')) found.add(from)
      else if (!seen.has(from)) {
        seen.add(from)
        open.push(from)
      }
    }
  }
  return found
}

/** Whether each has a step that the other has not. */
function otherSteps(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  return [...one].some((id) => !other.has(id)) && [...other].some((id) => !one.has(id))
}
