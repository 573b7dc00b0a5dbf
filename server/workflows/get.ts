import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import { get } from '../versioned/get'
import type { One } from '../versioned/noun'
import { WORKFLOW } from './noun'
import type { PresentedWorkflow } from './present'

/**
 * The latest saved version; works for archived workflows too.
 * @throws AppError WORKFLOW_NOT_FOUND
 */
export async function getWorkflow(ctx: ServiceContext, input: One): Promise<PresentedWorkflow> {
  authorize(ctx, 'workflow:read')
  return get(ctx, WORKFLOW, input)
}
