import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import { archive } from '../versioned/archive'
import type { One } from '../versioned/noun'
import { WORKFLOW } from './noun'
import type { PresentedWorkflow } from './present'

/**
 * Takes a workflow out of use: no run starts any more, open ones finish. Archiving again changes nothing.
 * @throws AppError WORKFLOW_NOT_FOUND
 */
export async function archiveWorkflow(ctx: ServiceContext, input: One): Promise<PresentedWorkflow> {
  authorize(ctx, 'workflow:publish')
  return archive(ctx, WORKFLOW, input, 'archived')
}

/**
 * Brings an archived workflow back as a draft; changes no other. Starts still run the version published before, and
 * publishing makes the status say so again.
 * @throws AppError WORKFLOW_NOT_FOUND
 */
export async function unarchiveWorkflow(ctx: ServiceContext, input: One): Promise<PresentedWorkflow> {
  authorize(ctx, 'workflow:publish')
  return archive(ctx, WORKFLOW, input, 'draft')
}

/** Undoes an archiving: the workflow has the status it had before. @throws AppError WORKFLOW_NOT_FOUND */
export async function undoArchiveWorkflow(ctx: ServiceContext, input: One): Promise<PresentedWorkflow> {
  authorize(ctx, 'workflow:publish')
  return archive(ctx, WORKFLOW, input, 'as before')
}
