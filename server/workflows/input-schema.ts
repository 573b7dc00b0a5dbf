import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import { getWorkflowWithDefinition } from './find'

/**
 * The START payload of the version a start would run: the published one, else the draft.
 * @throws AppError WORKFLOW_NOT_FOUND
 */
export async function getInputSchema(ctx: ServiceContext, workflowId: string) {
  authorize(ctx, 'workflow:read')
  const { definition } = await getWorkflowWithDefinition(ctx, workflowId, { effective: true })
  const described = Object.entries(definition.payload).map(([name, field]) => [
    name,
    { ...field, description: field.description ?? '' },
  ])
  return { success: true, data: { workflowId, payload: Object.fromEntries(described) } }
}
