import { authorize } from '../../auth/policy'
import type { ServiceContext } from '../../context'
import { getVersion } from '../../versioned/get-version'
import type { OneVersion } from '../../versioned/noun'
import { WORKFLOW } from '../../workflows/noun'
import { presentVersion } from '../../workflows/present'

/**
 * A version with its whole definition, and the number that people know it by.
 * @throws AppError WORKFLOW_NOT_FOUND
 */
export async function readVersion(ctx: ServiceContext, input: OneVersion) {
  authorize(ctx, 'workflow:read')
  const { row, version } = await getVersion(ctx, WORKFLOW, input)
  return { ...presentVersion(version, row), number: version.number }
}
