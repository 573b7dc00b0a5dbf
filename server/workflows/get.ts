import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import { getWorkflowWithDefinition } from './find'
import { type PresentedWorkflow, presentWorkflow } from './present'

/** The definition as last saved. @throws AppError WORKFLOW_NOT_FOUND */
export async function getWorkflow(ctx: ServiceContext, id: string): Promise<PresentedWorkflow> {
  authorize(ctx, 'workflow:read')
  const { row, definition } = await getWorkflowWithDefinition(ctx, id)
  return presentWorkflow(row, definition)
}
