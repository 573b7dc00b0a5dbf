import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import { archive } from '../versioned/archive'
import type { One } from '../versioned/noun'
import { WORKFLOW } from './noun'
import type { PresentedWorkflow } from './present'

/**
 * Archives a workflow: no run can start any more, open runs finish. Archiving it again changes nothing.
 * @throws AppError WORKFLOW_NOT_FOUND
 */
export async function archiveWorkflow(ctx: ServiceContext, input: One): Promise<PresentedWorkflow> {
  authorize(ctx, 'workflow:publish')
  return archive(ctx, WORKFLOW, input, 'archived')
}

/**
 * Brings an archived workflow back as a draft; one that is not archived stays as it is. Starts still run the version
 * published before, and publishing sets the status to published again.
 * @throws AppError WORKFLOW_NOT_FOUND
 */
export async function unarchiveWorkflow(ctx: ServiceContext, input: One): Promise<PresentedWorkflow> {
  authorize(ctx, 'workflow:publish')
  return archive(ctx, WORKFLOW, input, 'draft')
}

/**
 * Undoes an archive: the workflow gets its previous status back.
 * @throws AppError WORKFLOW_NOT_FOUND
 */
export async function undoArchiveWorkflow(ctx: ServiceContext, input: One): Promise<PresentedWorkflow> {
  authorize(ctx, 'workflow:publish')
  return archive(ctx, WORKFLOW, input, 'as before')
}
