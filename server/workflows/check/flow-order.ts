import { beginsBranch, exitOf } from '../../definition/exits'
import { asideSteps } from '../../definition/paths'
import type { Definition, Edge } from '../../definition/schema'
import { findStepType } from '../../steps/registry'

/** An edge that leads to a step. */
interface Incoming {
  source: number
  exit: string
}

/** The edges that lead to each step. */
export function predecessors(definition: Definition, position: Map<string, number>): Incoming[][] {
  const from: Incoming[][] = definition.steps.map(() => [])
  for (const edge of definition.edges) {
    const [source, target] = [position.get(edge.from), position.get(edge.to)]
    if (source !== undefined && target !== undefined) from[target]?.push({ source, exit: exitOf(edge) })
  }
  return from
}

/**
 * Indices of the steps, each after its predecessors except in a loop (reverse post-order), so that few passes are
 * needed; so a step's branches come before the steps after them. Iterative, because a definition may have 2,000 steps.
 */
export function inOrder(definition: Definition, position: Map<string, number>): number[] {
  const { steps, edges, initialStep } = definition
  const leaving: number[][] = steps.map(() => [])
  const begins = (edge: Edge) => {
    const spec = findStepType(steps[position.get(edge.from) ?? -1]?.type ?? '')?.exits
    return spec !== undefined && beginsBranch(spec, exitOf(edge))
  }
  // The last one visited comes first.
  for (const edge of edges.toSorted((a, b) => Number(begins(a)) - Number(begins(b)))) {
    const [source, target] = [position.get(edge.from), position.get(edge.to)]
    if (source !== undefined && target !== undefined) leaving[source]?.push(target)
  }
  const entered = new Set(leaving.flat())
  const roots = [initialStep, ...asideSteps(definition)].flatMap((id) => position.get(id ?? '') ?? [])
  const others = [...steps.keys()].toSorted((a, b) => Number(entered.has(a)) - Number(entered.has(b)))
  const starts = [...roots, ...others]
  const seen = new Set<number>()
  const done: number[] = []
  for (const start of starts) {
    const path: { at: number; next: number }[] = seen.has(start) ? [] : [{ at: start, next: 0 }]
    seen.add(start)
    for (let top = path.at(-1); top; top = path.at(-1)) {
      const target = leaving[top.at]?.[top.next++]
      if (target === undefined) {
        done.push(top.at)
        path.pop()
      } else if (!seen.has(target)) {
        seen.add(target)
        path.push({ at: target, next: 0 })
      }
    }
  }
  return done.reverse()
}
