import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import { getVersion } from '../versioned/get-version'
import type { OneVersion } from '../versioned/noun'
import { WORKFLOW } from './noun'
import { presentVersion } from './present'

/**
 * One version with its whole definition. The version is a number, `latest` or `published`.
 * @throws AppError WORKFLOW_NOT_FOUND, also when the version does not exist or was folded into a later one
 */
export async function getWorkflowVersion(ctx: ServiceContext, input: OneVersion) {
  authorize(ctx, 'workflow:read')
  const { row, version } = await getVersion(ctx, WORKFLOW, input)
  return presentVersion(version, row)
}
