import type { Definition } from '../../definition/schema'
import { findStepType } from '../../steps/registry'

const known = new WeakMap<Definition, boolean>()

/** Whether a definition has a step that people answer. */
export function asksPeople(definition: Definition): boolean {
  const old = known.get(definition)
  if (old !== undefined) return old
  const asks = definition.steps.some(({ type }) => {
    const found = findStepType(type)
    return found?.mode === 'pause' && found.answers !== undefined
  })
  known.set(definition, asks)
  return asks
}
