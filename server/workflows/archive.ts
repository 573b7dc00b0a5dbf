import { and, eq } from 'drizzle-orm'
import { workflows } from '@/db/schema/workflows'
import { authorize } from '../auth/policy'
import { type ServiceContext, withTransaction } from '../context'
import { ImpossibleState } from '../errors'
import { type ArchiveTo, archived } from '../versioned/columns'
import { getDefinition, getWorkflowRow } from './find'
import { type PresentedWorkflow, presentWorkflow } from './present'

/**
 * Takes a workflow out of use: no run starts any more, open ones finish. Archiving again is a no-op.
 * @throws AppError WORKFLOW_NOT_FOUND
 */
export async function archiveWorkflow(ctx: ServiceContext, id: string): Promise<PresentedWorkflow> {
  authorize(ctx, 'workflow:publish')
  return setArchived(ctx, id, 'archived')
}

/**
 * Brings an archived workflow back as a draft; on any other it is a no-op. An earlier published version
 * stays the one that starts run, and publishing makes the status say so again.
 * @throws AppError WORKFLOW_NOT_FOUND
 */
export async function unarchiveWorkflow(ctx: ServiceContext, id: string): Promise<PresentedWorkflow> {
  authorize(ctx, 'workflow:publish')
  return setArchived(ctx, id, 'draft')
}

/**
 * Takes an archiving back, so that the workflow is what it was; what was never published comes back as a draft.
 * @throws AppError WORKFLOW_NOT_FOUND
 */
export async function undoArchiveWorkflow(ctx: ServiceContext, id: string): Promise<PresentedWorkflow> {
  authorize(ctx, 'workflow:publish')
  return setArchived(ctx, id, 'as it was')
}

async function setArchived(ctx: ServiceContext, id: string, to: ArchiveTo): Promise<PresentedWorkflow> {
  return withTransaction(ctx, async (tx) => {
    const row = await getWorkflowRow(tx, id, { lock: true })
    const definition = await getDefinition(tx, id, row.version)
    const change = archived(tx, row, to)
    if (!change) return presentWorkflow(row, definition)
    const [changed] = await tx.db
      .update(workflows)
      .set(change)
      .where(and(eq(workflows.tenantId, tx.tenantId), eq(workflows.id, id)))
      .returning()
    if (!changed) throw new ImpossibleState('workflow-archive', 'a locked row was not updated')
    return presentWorkflow(changed, definition)
  })
}
