import { unstorable } from '../definition/json'
import { AppError } from '../errors'
import { parseInput } from '../parse'
import { setLimits } from './limits-schema'
import { requireSchema } from './output-schema'
import { type AgentConfig, CreateAgent, type UpdateAgent } from './schema'

/**
 * Parses the body of a create.
 * @throws AppError INVALID_INPUT
 */
export function newConfig(body: unknown): AgentConfig {
  return checked(parseInput(CreateAgent, body))
}

/**
 * The current configuration with each field of the body replaced as a whole.
 * @throws AppError INVALID_INPUT
 */
export function mergeConfig(current: AgentConfig, { version: _seen, ...change }: UpdateAgent): AgentConfig {
  const named = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined))
  return checked({ ...current, ...named })
}

function checked(config: AgentConfig): AgentConfig {
  const problem = unstorable(config)
  if (problem) throw new AppError('INVALID_INPUT', { details: [problem] })
  requireSchema(config.outputSchema)
  if (config.handoffs.length > 0 && !config.supervisor) {
    const message = 'are only for supervisor agents (supervisor: true)'
    throw new AppError('INVALID_INPUT', { details: [{ path: 'handoffs', message }] })
  }
  return withoutUnset(config)
}

/** Leaves out what says the same as its absence. */
function withoutUnset({ fallbacks = [], fallbackOn, limits: given, ...config }: AgentConfig): AgentConfig {
  const limits = setLimits(given)
  return {
    ...config,
    ...(fallbacks.length > 0 ? { fallbacks, ...(fallbackOn ? { fallbackOn } : {}) } : {}),
    ...(limits ? { limits } : {}),
  }
}
