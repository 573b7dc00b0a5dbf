import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import { get } from '../versioned/get'
import type { One } from '../versioned/noun'
import { WORKFLOW } from './noun'
import type { PresentedWorkflow } from './present'

/** The workflow as last saved, also an archived one. @throws AppError WORKFLOW_NOT_FOUND */
export async function getWorkflow(ctx: ServiceContext, input: One): Promise<PresentedWorkflow> {
  authorize(ctx, 'workflow:read')
  return get(ctx, WORKFLOW, input)
}
