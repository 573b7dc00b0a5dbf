import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import type { Definition } from '../definition/schema'
import { getWorkflowWithDefinition } from './find'

/**
 * The saved definition as a body of `POST /api/workflows` makes it again, here or elsewhere. It holds no secrets:
 * tools and agents are named by id.
 * @throws AppError WORKFLOW_NOT_FOUND
 */
export async function exportWorkflow(ctx: ServiceContext, id: string): Promise<Definition> {
  authorize(ctx, 'workflow:read')
  const { definition } = await getWorkflowWithDefinition(ctx, id)
  const { name, description, initialStep, payload, steps, edges, onCancel } = definition
  return { name, description, initialStep, payload, steps, edges, ...(onCancel === undefined ? {} : { onCancel }) }
}
