import { stepsAside } from '../../definition/paths'
import type { Definition } from '../../definition/schema'
import { bodiesOf } from './regions'

/** The steps whose results a step may refer to: those on the paths to it, including their branches. */
export function stepsLeadingTo(definition: Definition, stepId: string): Set<string> {
  // A run may enter these paths from any step.
  if (stepsAside(definition).has(stepId)) return new Set(definition.steps.map(({ id }) => id))
  const sources = new Map<string, string[]>()
  for (const { from, to } of definition.edges) {
    const known = sources.get(to)
    if (known) known.push(from)
    else sources.set(to, [from])
  }
  const leading = new Set([stepId])
  for (const id of leading) for (const source of sources.get(id) ?? []) leading.add(source)
  for (const { fork, steps } of bodiesOf(definition)) if (leading.has(fork)) for (const id of steps) leading.add(id)
  return leading
}
