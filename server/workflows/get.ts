import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import { getDefinition, getWorkflowRow } from './find'
import { type PresentedWorkflow, presentWorkflow } from './present'

/** The definition as last saved. @throws AppError WORKFLOW_NOT_FOUND */
export async function getWorkflow(ctx: ServiceContext, id: string): Promise<PresentedWorkflow> {
  authorize(ctx, 'workflow:read')
  const row = await getWorkflowRow(ctx, id)
  return presentWorkflow(row, await getDefinition(ctx, id, row.version))
}
