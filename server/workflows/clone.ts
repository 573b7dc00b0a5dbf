import { authorize } from '../auth/policy'
import { type ServiceContext, withTransaction } from '../context'
import { newId } from '../ids'
import { insertWorkflow } from './create'
import { getWorkflowWithDefinition } from './find'
import type { PresentedWorkflow } from './present'
import { MAX_NAME } from './schema'

const SUFFIX = ' (Copy)'

/**
 * A new draft with the content of the latest saved version; an archived workflow may be cloned, too.
 * @throws AppError WORKFLOW_NOT_FOUND
 */
export async function cloneWorkflow(ctx: ServiceContext, id: string): Promise<PresentedWorkflow> {
  authorize(ctx, 'workflow:write')
  return withTransaction(ctx, async (tx) => {
    const { definition } = await getWorkflowWithDefinition(tx, id)
    return insertWorkflow(tx, newId('wf'), { ...definition, name: copyName(definition.name) })
  })
}

/** The name with the suffix, the name's end cut where both are too long together. */
function copyName(name: string): string {
  const room = MAX_NAME - SUFFIX.length
  if (name.length <= room) return `${name}${SUFFIX}`
  // Half of a surrogate pair could not be stored.
  const end = /[\uD800-\uDBFF]/.test(name.charAt(room - 1)) ? room - 1 : room
  return `${name.slice(0, end).trimEnd()}${SUFFIX}`
}
