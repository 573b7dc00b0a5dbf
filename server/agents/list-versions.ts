import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import { listVersions } from '../versioned/list-versions'
import type { One } from '../versioned/noun'
import { presentVersionItem } from '../versioned/present'
import { AGENT } from './noun'

/**
 * The agent's versions, newest first.
 * @throws AppError AGENT_NOT_FOUND, INVALID_INPUT
 */
export async function listAgentVersions(ctx: ServiceContext, input: One & { page: unknown }) {
  authorize(ctx, 'agent:read')
  const { row, versions, ...page } = await listVersions(ctx, AGENT, input)
  return { items: versions.map((version) => presentVersionItem(version, row)), ...page }
}
