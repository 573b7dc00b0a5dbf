import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import type { Guarded } from '../versioned/noun'
import { update } from '../versioned/update'
import { mergeConfig } from './config'
import { AGENT } from './noun'
import type { PresentedAgent } from './present'
import { UpdateAgent } from './schema'

/**
 * Saves a change as the next version. Fields the body leaves out keep their values; a body that changes nothing makes
 * no version.
 * @throws AppError AGENT_NOT_FOUND, AGENT_ARCHIVED, VERSION_CONFLICT, INVALID_INPUT
 */
export async function updateAgent(ctx: ServiceContext, input: Guarded & { body: unknown }): Promise<PresentedAgent> {
  authorize(ctx, 'agent:write')
  return update(ctx, AGENT, input, { schema: UpdateAgent, merge: mergeConfig })
}
