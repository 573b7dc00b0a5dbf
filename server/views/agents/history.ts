import { listAgentVersions } from '../../agents/lifecycle'
import { AGENT } from '../../agents/noun'
import type { ServiceContext } from '../../context'
import type { One } from '../../versioned/noun'
import { withHistory } from '../versioned'

/**
 * The agent's versions with their authors' names and the notes of their publishers.
 * @throws AppError AGENT_NOT_FOUND, INVALID_INPUT
 */
export async function agentHistory(ctx: ServiceContext, input: One & { page: unknown }) {
  const versions = await listAgentVersions(ctx, input)
  return { ...versions, items: await withHistory(ctx, AGENT, input, versions.items) }
}
