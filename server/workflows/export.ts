import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import type { Definition } from '../definition/schema'
import { optionalSettings } from '../definition/settings'
import type { One } from '../versioned/noun'
import { findWhole } from '../versioned/row-at'
import { WORKFLOW } from './noun'

/**
 * The saved definition as a body for `POST /api/workflows`, here or elsewhere. It contains no secrets and refers to
 * tools and agents by id.
 * @throws AppError WORKFLOW_NOT_FOUND
 */
export async function exportWorkflow(ctx: ServiceContext, { id }: One): Promise<Definition> {
  authorize(ctx, 'workflow:read')
  const { content } = await findWhole(ctx, WORKFLOW, id)
  const { name, description, initialStep, payload, steps, edges } = content
  return {
    name,
    description,
    initialStep,
    payload,
    steps,
    edges,
    ...optionalSettings(content),
  }
}
