import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import type { Guarded, OneVersion } from '../versioned/noun'
import { restoreVersion } from '../versioned/restore-version'
import { WORKFLOW } from './noun'
import type { PresentedWorkflow } from './present'

/**
 * Saves an earlier version as the next one without publishing it. Restoring the current version changes nothing.
 * @throws AppError WORKFLOW_NOT_FOUND, WORKFLOW_ARCHIVED, VERSION_CONFLICT, INVALID_INPUT
 */
export async function restoreWorkflowVersion(
  ctx: ServiceContext,
  input: Guarded & OneVersion,
): Promise<PresentedWorkflow> {
  authorize(ctx, 'workflow:publish')
  return restoreVersion(ctx, WORKFLOW, input)
}
