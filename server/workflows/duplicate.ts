import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import { duplicate } from '../versioned/duplicate'
import type { One } from '../versioned/noun'
import { WORKFLOW } from './noun'
import type { PresentedWorkflow } from './present'

/**
 * Creates a draft with the latest saved definition and the layout; works for archived workflows too.
 * @throws AppError WORKFLOW_NOT_FOUND
 */
export async function duplicateWorkflow(ctx: ServiceContext, input: One): Promise<PresentedWorkflow> {
  authorize(ctx, 'workflow:write')
  return duplicate(ctx, WORKFLOW, input)
}
