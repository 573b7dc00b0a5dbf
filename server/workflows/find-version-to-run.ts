import { workflowVersions } from '@/db/schema/workflows'
import { isInTransaction, type ServiceContext } from '../context'
import type { Definition } from '../definition/schema'
import { AppError } from '../errors'
import { cacheDefinition, VERSION_TO_RUN } from '../run-store/definition'
import { findRow, versionIs } from '../versioned/rows'
import { resolveVersion } from '../versioned/versions'
import { WORKFLOW } from './noun'
import type { WorkflowRow } from './present'

/**
 * The version a start uses. A transaction locks it until it ends, so that no save folds it and no delete removes it
 * before the run pinned to it is written.
 * @throws AppError WORKFLOW_NOT_FOUND, WORKFLOW_ARCHIVED
 */
export async function findVersionToRun(
  ctx: ServiceContext,
  id: string,
  wanted: string | undefined,
): Promise<{ row: WorkflowRow; version: number; wasPublished: boolean; definition: Definition }> {
  for (let seen = 0; ; ) {
    const row = await findRow(ctx, WORKFLOW, id)
    if (row.status === 'archived') throw new AppError('WORKFLOW_ARCHIVED')
    const version = resolveVersion(wanted ?? (row.publishedVersion === null ? 'latest' : 'published'), row)
    // The latest version may be folded between the two statements; then the row has a newer number by now.
    if (version === null || version === seen) throw new AppError('WORKFLOW_NOT_FOUND')
    seen = version
    const query = ctx.db
      .select(VERSION_TO_RUN)
      .from(workflowVersions)
      .where(versionIs(ctx, WORKFLOW, id, version))
    const [held] = await (isInTransaction(ctx) ? query.for('key share') : query)
    if (!held) continue
    const wasPublished = held.publishedAt !== null
    return { row, version, wasPublished, definition: cacheDefinition(ctx, id, version, held) }
  }
}
