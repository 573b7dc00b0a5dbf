import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import { getAgentRow, getVersionRow } from './find'
import type { PresentedAgent } from './present'
import { updateAgent } from './update'

/**
 * Saves what an earlier version said as the next version; nothing is published. Restoring what is current already
 * is a no-op.
 * @throws AppError AGENT_NOT_FOUND, CONFLICT when archived, VERSION_CONFLICT, INVALID_INPUT
 */
export async function restoreAgentVersion(
  ctx: ServiceContext,
  input: { agentId: string; version: string; ifMatch?: string | null },
): Promise<PresentedAgent> {
  authorize(ctx, 'agent:write')
  const { agentId, version, ifMatch = null } = input
  // Versions never change, so this one may be read before the agent is locked.
  const earlier = await getVersionRow(ctx, await getAgentRow(ctx, agentId), version)
  return updateAgent(ctx, { agentId, body: earlier.config, ifMatch })
}
