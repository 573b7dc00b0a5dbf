import { type ExitSpec, exitOf, exitsOf, FAILURE_EXITS, fallsToNext } from './exits'
import { cyclesOf } from './graph'
import { asideSteps, edgesBySource, reachable } from './paths'
import type { Definition, Edge, Step } from './schema'

/** Every loop needs a bounded step. */
export function isBounded(step: Step): boolean {
  return step.maxVisits !== undefined
}

/**
 * Whether a run can leave a group of steps without failing.
 * @param specOf the exits of a step's type; undefined for an unknown type
 */
export function hasWayOut(
  definition: Definition,
  group: ReadonlySet<string>,
  specOf: (step: Step) => ExitSpec | undefined,
): boolean {
  const leaving = edgesBySource(definition.edges)
  return definition.steps.some((step) => {
    const spec = group.has(step.id) ? specOf(step) : undefined
    if (!spec) return false
    const edges = leaving.get(step.id) ?? []
    if (edges.some(({ to }) => !group.has(to))) return true
    return exitsOf(spec, step).some(
      ({ id }) => !FAILURE_EXITS.includes(id) && !fallsToNext(spec, id) && !edges.some((edge) => exitOf(edge) === id),
    )
  })
}

/** The group of steps that lead back to themselves through an edge from one step to another; null if none exists. */
export function loopThrough(definition: Definition, from: string, to: string): string[] | null {
  return cyclesOf(definition).find((group) => group.includes(from) && group.includes(to)) ?? null
}

/**
 * The edges that lead back to a step which the path from START (or a cleanup or failure path) has already passed.
 * Without them, no loop is left.
 */
export function backEdges(definition: Definition): Set<Edge> {
  const leaving = edgesBySource(definition.edges)
  const state = new Map<string, 'open' | 'done'>()
  const back = new Set<Edge>()
  const { initialStep, steps } = definition
  // Steps without predecessors come before the others, so that the right edge of their loops counts as leading back.
  const led = new Set(definition.edges.map(({ to }) => to))
  const rest = steps.map(({ id }) => id).toSorted((a, b) => Number(led.has(a)) - Number(led.has(b)))
  for (const start of [initialStep, ...asideSteps(definition), ...rest]) {
    if (start === null || state.has(start)) continue
    const path = [{ id: start, next: 0 }]
    for (let top = path.at(-1); top; top = path.at(-1)) {
      state.set(top.id, 'open')
      const edge = leaving.get(top.id)?.[top.next++]
      if (!edge) {
        state.set(top.id, 'done')
        path.pop()
      } else if (state.get(edge.to) === 'open') back.add(edge)
      else if (!state.has(edge.to)) path.push({ id: edge.to, next: 0 })
    }
  }
  return back
}

/**
 * How often a run can follow an edge back: the smallest `maxVisits` of a step that every such round visits. Null if no
 * such step exists.
 */
export function boundOf(definition: Definition, edge: Edge): number | null {
  const bounds = definition.steps
    .flatMap(({ id, maxVisits }) => (typeof maxVisits === 'number' ? [{ id, maxVisits }] : []))
    .toSorted((a, b) => a.maxVisits - b.maxVisits)
  const needed = bounds.find(({ id }) => {
    if (id === edge.from || id === edge.to) return true
    const edges = definition.edges.filter(({ from, to }) => from !== id && to !== id)
    return !reachable({ ...definition, edges }, edge.to).has(edge.from)
  })
  return needed?.maxVisits ?? null
}
