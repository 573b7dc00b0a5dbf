import { authorize } from '../auth/policy'
import { type ServiceContext, withTransaction } from '../context'
import { AppError } from '../errors'
import { expectVersion, readIfMatch } from '../versioned/expected-version'
import { sameDefinition } from './definition'
import { getDefinition, getWorkflowRow } from './find'
import { getVersionRow } from './get-version'
import { type PresentedWorkflow, presentWorkflow } from './present'
import { saveVersion } from './save'

/**
 * Saves what an earlier version said as the next version; nothing is published. Restoring what is current
 * already is a no-op.
 * @throws AppError WORKFLOW_NOT_FOUND, WORKFLOW_ARCHIVED, VERSION_CONFLICT, INVALID_INPUT
 */
export async function restoreVersion(
  ctx: ServiceContext,
  input: { id: string; version: string; ifMatch?: string | null },
): Promise<PresentedWorkflow> {
  authorize(ctx, 'workflow:publish')
  const ifMatch = readIfMatch(input.ifMatch)
  return withTransaction(ctx, async (tx) => {
    const row = await getWorkflowRow(tx, input.id, { lock: true })
    const definition = (await getVersionRow(tx, row, input.version)).definition
    if (row.status === 'archived') throw new AppError('WORKFLOW_ARCHIVED')
    expectVersion(row, { ifMatch })
    if (sameDefinition(await getDefinition(tx, row.id, row.version), definition))
      return presentWorkflow(row, definition)
    // The version before is what the caller may want back, so this save folds nothing.
    return presentWorkflow(await saveVersion(tx, row, definition, { folds: false }), definition)
  })
}
