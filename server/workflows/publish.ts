import { and, eq } from 'drizzle-orm'
import { workflows, workflowVersions } from '@/db/schema/workflows'
import { authorize } from '../auth/policy'
import { type ServiceContext, withTransaction } from '../context'
import { AppError, ImpossibleState } from '../errors'
import { requireRunnable } from './check'
import { getDefinition, getWorkflowRow } from './find'
import { presentWorkflow } from './present'

/**
 * Makes the latest saved version the one that runs start on. Publishing again without a change is a no-op.
 * @throws AppError WORKFLOW_NOT_FOUND, WORKFLOW_ARCHIVED, VALIDATION_FAILED
 */
export async function publishWorkflow(ctx: ServiceContext, id: string) {
  authorize(ctx, 'workflow:publish')
  return withTransaction(ctx, async (tx) => {
    const row = await getWorkflowRow(tx, id, { lock: true })
    if (row.status === 'archived') throw new AppError('WORKFLOW_ARCHIVED')
    const definition = await getDefinition(tx, id, row.version)
    const warnings = await requireRunnable(tx, definition)
    if (row.publishedVersion === row.version) return { ...presentWorkflow(row, definition), warnings }
    const now = tx.now()
    const [published] = await tx.db
      .update(workflows)
      .set({
        status: 'published',
        publishedVersion: row.version,
        publishedAt: now,
        updatedAt: now,
        updatedBy: tx.actor.id,
      })
      .where(and(eq(workflows.tenantId, tx.tenantId), eq(workflows.id, id)))
      .returning()
    await tx.db
      .update(workflowVersions)
      .set({ publishedAt: now })
      .where(
        and(
          eq(workflowVersions.tenantId, tx.tenantId),
          eq(workflowVersions.workflowId, id),
          eq(workflowVersions.version, row.version),
        ),
      )
    if (!published) throw new ImpossibleState('workflow-publish', 'a locked row was not updated')
    return { ...presentWorkflow(published, definition), warnings }
  })
}
