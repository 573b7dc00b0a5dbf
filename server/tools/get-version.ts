import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import { getVersion } from '../versioned/get-version'
import type { OneVersion } from '../versioned/noun'
import { TOOL } from './noun'
import { presentToolVersion } from './present'

/**
 * One version with its whole definition. The version is a number, `latest` or `published`.
 * @throws AppError TOOL_NOT_FOUND, also for a built-in tool, which has no versions
 */
export async function getToolVersion(ctx: ServiceContext, input: OneVersion) {
  authorize(ctx, 'tool:read')
  const { row, version } = await getVersion(ctx, TOOL, input)
  return presentToolVersion(version, row)
}
