import type { Definition } from '@/server/definition/schema'
import { optionalSettings } from '@/server/definition/settings'

/** Sets the step that START leads to. */
export function setInitial(definition: Definition, stepId: string): Definition {
  return { ...definition, initialStep: stepId }
}

/** Changes settings of the workflow; null removes one. */
export function setMeta(
  definition: Definition,
  change: {
    name?: string
    description?: string
    onCancel?: string | null
    onFailure?: string | null
    businessKey?: string | null
    limits?: Definition['limits'] | null
  },
): Definition {
  const { onCancel, onFailure, businessKey, limits, ...rest } = { ...definition, ...change }
  return { ...rest, ...optionalSettings({ onCancel, onFailure, businessKey, limits }) }
}
