import { workflowVersions } from '@/db/schema/workflows'
import type { TransactionContext } from '../context'
import type { Definition } from '../definition/schema'
import { AppError } from '../errors'
import { findRow, versionIs } from '../versioned/rows'
import { resolveVersion } from '../versioned/versions'
import { WORKFLOW } from './noun'
import type { WorkflowRow } from './present'

/**
 * The version a start uses, locked until the transaction ends, so that no save folds it and no delete removes it before
 * the run that is pinned to it is written.
 * @throws AppError WORKFLOW_NOT_FOUND, WORKFLOW_ARCHIVED
 */
export async function holdVersion(
  tx: TransactionContext,
  id: string,
  wanted: string | undefined,
): Promise<{ row: WorkflowRow; version: number; definition: Definition }> {
  for (let seen = 0; ; ) {
    const row = await findRow(tx, WORKFLOW, id)
    if (row.status === 'archived') throw new AppError('WORKFLOW_ARCHIVED')
    const version = resolveVersion(wanted ?? (row.publishedVersion === null ? 'latest' : 'published'), row)
    // The latest version may be folded between the two statements; then the row has a newer number by now.
    if (version === null || version === seen) throw new AppError('WORKFLOW_NOT_FOUND')
    seen = version
    const [held] = await tx.db
      .select({ definition: workflowVersions.definition })
      .from(workflowVersions)
      .where(versionIs(tx, WORKFLOW, id, version))
      .for('key share')
    if (held) return { row, version, definition: held.definition }
  }
}
