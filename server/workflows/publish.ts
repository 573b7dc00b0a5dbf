import { and, eq } from 'drizzle-orm'
import { workflows, workflowVersions } from '@/db/schema/workflows'
import { authorize } from '../auth/policy'
import { type ServiceContext, withTransaction } from '../context'
import { AppError, ImpossibleState } from '../errors'
import { goneLive } from '../versioned/columns'
import { expectVersion, readIfMatch } from '../versioned/expected-version'
import { checkDefinition, requireRunnable } from './check/definition'
import { getDefinition, getWorkflowRow, versionIs } from './find'
import { presentWorkflow } from './present'

/**
 * Makes the latest saved version the one that runs start on. Publishing again without a change is a no-op.
 * @param options.ifMatch the `If-Match` header: publish this version or none
 * @throws AppError WORKFLOW_NOT_FOUND, WORKFLOW_ARCHIVED, VERSION_CONFLICT, VALIDATION_FAILED, INVALID_INPUT
 */
export async function publishWorkflow(ctx: ServiceContext, id: string, options: { ifMatch?: string | null } = {}) {
  authorize(ctx, 'workflow:publish')
  const ifMatch = readIfMatch(options.ifMatch)
  return withTransaction(ctx, async (tx) => {
    const row = await getWorkflowRow(tx, id, { lock: true })
    if (row.status === 'archived') throw new AppError('WORKFLOW_ARCHIVED')
    expectVersion(row, { ifMatch })
    const definition = await getDefinition(tx, id, row.version)
    // What is published already stays so, even when a tool it calls has gone since.
    if (row.status === 'published' && row.publishedVersion === row.version) {
      const problems = await checkDefinition(tx, definition)
      return { ...presentWorkflow(row, definition), warnings: problems }
    }
    const warnings = await requireRunnable(tx, definition)
    const live = goneLive(tx, row.version)
    const [published] = await tx.db
      .update(workflows)
      .set(live)
      .where(and(eq(workflows.tenantId, tx.tenantId), eq(workflows.id, id)))
      .returning()
    await tx.db
      .update(workflowVersions)
      .set({ publishedAt: live.publishedAt })
      .where(versionIs(tx, id, row.version))
    if (!published) throw new ImpossibleState('workflow-publish', 'a locked row was not updated')
    return { ...presentWorkflow(published, definition), warnings }
  })
}
