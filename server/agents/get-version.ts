import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import { getVersion } from '../versioned/get-version'
import type { OneVersion } from '../versioned/noun'
import { AGENT } from './noun'
import { presentVersion } from './present'

/**
 * One version with its whole configuration. The version is a number, `latest` or `published`.
 * @throws AppError AGENT_NOT_FOUND
 */
export async function getAgentVersion(ctx: ServiceContext, input: OneVersion) {
  authorize(ctx, 'agent:read')
  const { row, version } = await getVersion(ctx, AGENT, input)
  return presentVersion(version, row)
}
