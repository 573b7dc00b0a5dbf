import { authorize } from '../../auth/policy'
import type { ServiceContext } from '../../context'
import type { OneVersion } from '../../versioned/noun'
import { findRowAt } from '../../versioned/row-at'
import { WORKFLOW } from '../../workflows/noun'
import { presentVersion } from '../../workflows/present'

/**
 * A version with its whole definition, and its number as shown to people.
 * @throws AppError WORKFLOW_NOT_FOUND
 */
export async function readVersion(ctx: ServiceContext, input: OneVersion) {
  authorize(ctx, 'workflow:read')
  const { row, version } = await findRowAt(ctx, WORKFLOW, input.id, input.version)
  return { ...presentVersion(version, row), number: version.number }
}
