import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import type { One } from '../versioned/noun'
import { findWhole } from '../versioned/row-at'
import { WORKFLOW } from './noun'

/**
 * The START fields of the version a start would run: the published one, or else the draft.
 * @throws AppError WORKFLOW_NOT_FOUND
 */
export async function getInputSchema(ctx: ServiceContext, { id }: One) {
  authorize(ctx, 'workflow:read')
  const { content } = await findWhole(ctx, WORKFLOW, id, 'started')
  const described = Object.entries(content.payload).map(
    ([name, field]) => [name, { ...field, description: field.description ?? '' }] as const,
  )
  return { success: true, data: { workflowId: id, payload: Object.fromEntries(described) } }
}
