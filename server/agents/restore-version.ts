import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import type { Guarded, OneVersion } from '../versioned/noun'
import { restoreVersion } from '../versioned/restore-version'
import { AGENT } from './noun'
import type { PresentedAgent } from './present'

/**
 * Saves an earlier version as the next one without publishing it. Restoring the current version changes nothing.
 * @throws AppError AGENT_NOT_FOUND, AGENT_ARCHIVED, VERSION_CONFLICT, INVALID_INPUT
 */
export async function restoreAgentVersion(ctx: ServiceContext, input: Guarded & OneVersion): Promise<PresentedAgent> {
  authorize(ctx, 'agent:write')
  return restoreVersion(ctx, AGENT, input)
}
