import { authorize } from '../auth/policy'
import { type ServiceContext, withTransaction } from '../context'
import { MAX_NAME } from '../definition/schema'
import { newId } from '../ids'
import { copyName } from '../versioned/copy-name'
import { insertWorkflow } from './create'
import { getWorkflowWithDefinition } from './find'
import type { PresentedWorkflow } from './present'

/**
 * A new draft with the content of the latest saved version; an archived workflow may be cloned, too.
 * @throws AppError WORKFLOW_NOT_FOUND
 */
export async function cloneWorkflow(ctx: ServiceContext, id: string): Promise<PresentedWorkflow> {
  authorize(ctx, 'workflow:write')
  return withTransaction(ctx, async (tx) => {
    const { row, definition } = await getWorkflowWithDefinition(tx, id)
    const named = { ...definition, name: copyName(definition.name, MAX_NAME) }
    return insertWorkflow(tx, newId('wf'), named, row.layout)
  })
}
