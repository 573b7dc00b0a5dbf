import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import type { Guarded } from '../versioned/noun'
import { publish } from '../versioned/publish'
import { checkDefinition, requireRunnable } from './check/definition'
import { WORKFLOW } from './noun'

/**
 * Makes the latest saved version the one new runs use. Publishing it again without a change does nothing.
 * @throws AppError WORKFLOW_NOT_FOUND, WORKFLOW_ARCHIVED, VERSION_CONFLICT, VALIDATION_FAILED, INVALID_INPUT
 */
export async function publishWorkflow(ctx: ServiceContext, input: Guarded) {
  authorize(ctx, 'workflow:publish')
  return publish(ctx, WORKFLOW, input, async (tx, { content, live }) => ({
    // A version that is already published stays published, even if a tool it calls is gone by now.
    warnings: await (live ? checkDefinition(tx, content) : requireRunnable(tx, content)),
  }))
}
