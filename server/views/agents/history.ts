import { listAgentVersions } from '../../agents/list-versions'
import type { ServiceContext } from '../../context'
import type { One } from '../../versioned/noun'
import { withAuthors } from '../actors'

/**
 * The agent's versions with their authors' names.
 * @throws AppError AGENT_NOT_FOUND, INVALID_INPUT
 */
export async function agentHistory(ctx: ServiceContext, input: One & { page: unknown }) {
  const versions = await listAgentVersions(ctx, input)
  return { ...versions, items: await withAuthors(ctx, versions.items) }
}
