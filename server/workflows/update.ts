import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import type { Guarded } from '../versioned/noun'
import { update } from '../versioned/update'
import { mergeDefinition } from './definition'
import { WORKFLOW } from './noun'
import type { PresentedWorkflow } from './present'
import { UpdateWorkflow } from './schema'

/**
 * Saves a change as the next version. Fields the body leaves out keep their values; a body that changes nothing makes
 * no version. New runs still use the published version.
 * @throws AppError WORKFLOW_NOT_FOUND, WORKFLOW_ARCHIVED, VERSION_CONFLICT, INVALID_INPUT
 */
export async function updateWorkflow(
  ctx: ServiceContext,
  input: Guarded & { body: unknown },
): Promise<PresentedWorkflow> {
  authorize(ctx, 'workflow:write')
  return update(ctx, WORKFLOW, input, { schema: UpdateWorkflow, merge: mergeDefinition })
}
