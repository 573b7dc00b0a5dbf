import { exitOf } from './exits'
import { NOWHERE } from './part'
import { reachable } from './paths'
import type { Definition, Step } from './schema'

/** A definition as a walk reads it: every lookup takes the same time, however large the definition is. */
interface Graph {
  step(stepId: string): Step | undefined
  /** The step an exit leads to; null without an edge. */
  target(stepId: string, exit: string): string | null
  /** Whether the path ends at an exit despite its edge: the run performs only a part. */
  stops(stepId: string, exit: string): boolean
  /** The steps that a walk may visit more than once: on a cycle, or also on the failure path. */
  looping: ReadonlySet<string>
}

const known = new WeakMap<Definition, Graph>()

/** Computed once per definition object, which must not change afterwards. */
export function graphOf(definition: Definition): Graph {
  const old = known.get(definition)
  if (old) return old
  const steps = new Map<string, Step>()
  for (const step of definition.steps) if (!steps.has(step.id)) steps.set(step.id, step)
  const targets = new Map<string, Map<string, string>>()
  for (const edge of definition.edges) {
    const leaving = targets.get(edge.from) ?? new Map<string, string>()
    targets.set(edge.from, leaving)
    if (!leaving.has(exitOf(edge))) leaving.set(exitOf(edge), edge.to)
  }
  const graph: Graph = {
    step: (stepId) => steps.get(stepId),
    target: (stepId, exit) => targets.get(stepId)?.get(exit) || null,
    stops: (stepId, exit) => targets.get(stepId)?.get(exit) === NOWHERE,
    looping: new Set([...cyclesOf(definition).flat(), ...onBothPaths(definition)]),
  }
  known.set(definition, graph)
  return graph
}

/** The steps that are on both the main path and the failure path, which the same walk follows one after the other. */
function onBothPaths(definition: Definition): string[] {
  const { initialStep, onFailure } = definition
  if (!onFailure || initialStep === null) return []
  const main = reachable(definition, initialStep)
  return [...reachable(definition, onFailure)].filter((id) => main.has(id))
}

/**
 * The groups of steps that lead back to themselves (strongly connected components with a cycle). Tarjan's algorithm,
 * iterative because a definition may have 2,000 steps.
 * @param without steps to leave out, with their edges
 */
export function cyclesOf(definition: Definition, without: (step: Step) => boolean = () => false): string[][] {
  const out = new Set(definition.steps.filter(without).map(({ id }) => id))
  const leaving = new Map<string, string[]>(definition.steps.map(({ id }) => [id, []]))
  for (const { from, to } of definition.edges)
    if (leaving.has(to) && !out.has(from) && !out.has(to)) leaving.get(from)?.push(to)
  const index = new Map<string, number>()
  const low = new Map<string, number>()
  const stack: string[] = []
  const onStack = new Set<string>()
  const cycles: string[][] = []
  for (const start of leaving.keys()) {
    if (index.has(start) || out.has(start)) continue
    const path: { id: string; next: number }[] = []
    const enter = (id: string) => {
      index.set(id, index.size)
      low.set(id, index.get(id) ?? 0)
      stack.push(id)
      onStack.add(id)
      path.push({ id, next: 0 })
    }
    enter(start)
    for (let top = path.at(-1); top; top = path.at(-1)) {
      const { id } = top
      const target = leaving.get(id)?.[top.next++]
      if (target === undefined) {
        path.pop()
        const parent = path.at(-1)
        if (parent) low.set(parent.id, Math.min(low.get(parent.id) ?? 0, low.get(id) ?? 0))
        if (low.get(id) !== index.get(id)) continue
        const group = stack.splice(stack.indexOf(id))
        for (const member of group) onStack.delete(member)
        if (group.length > 1 || leaving.get(id)?.includes(id)) cycles.push(group)
      } else if (!index.has(target)) enter(target)
      else if (onStack.has(target)) low.set(id, Math.min(low.get(id) ?? 0, index.get(target) ?? 0))
    }
  }
  return cycles
}
