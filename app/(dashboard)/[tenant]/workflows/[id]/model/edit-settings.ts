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

/** Changes limits of a run; undefined removes one. */
export function setLimits(
  definition: Definition,
  change: Partial<Record<'timeoutMs' | 'tokens' | 'cost', number | undefined>>,
): Definition {
  const { timeoutMs, agents } = definition.limits ?? {}
  const { timeoutMs: time, ...totals } = { timeoutMs, ...agents, ...change }
  return {
    ...withoutLimits(definition),
    ...optionalSettings({ ...definition, limits: { timeoutMs: time, agents: totals } }),
  }
}

function withoutLimits({ limits: _limits, ...rest }: Definition): Definition {
  return rest
}
