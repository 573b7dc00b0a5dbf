import { authorize } from '../auth/policy'
import { type ServiceContext, withTransaction } from '../context'
import { AppError } from '../errors'
import { parseInput } from '../parse'
import { expectVersion, readIfMatch } from '../versioned/expected-version'
import { mergeDefinition, sameDefinition } from './definition'
import { getDefinition, getWorkflowRow } from './find'
import { type PresentedWorkflow, presentWorkflow } from './present'
import { saveVersion } from './save'
import { UpdateWorkflow } from './schema'

/**
 * Saves a change as the next version. What the body does not name stays; a body that changes nothing makes no
 * version. The status stays too: what is published goes on running as it is.
 * @throws AppError WORKFLOW_NOT_FOUND, WORKFLOW_ARCHIVED, VERSION_CONFLICT, INVALID_INPUT
 */
export async function updateWorkflow(
  ctx: ServiceContext,
  input: { id: string; body: unknown; ifMatch?: string | null },
): Promise<PresentedWorkflow> {
  authorize(ctx, 'workflow:write')
  const ifMatch = readIfMatch(input.ifMatch)
  const change = parseInput(UpdateWorkflow, input.body)
  return withTransaction(ctx, async (tx) => {
    const row = await getWorkflowRow(tx, input.id, { lock: true })
    if (row.status === 'archived') throw new AppError('WORKFLOW_ARCHIVED')
    expectVersion(row, { ifMatch, version: change.version })
    const current = await getDefinition(tx, row.id, row.version)
    const definition = mergeDefinition(current, change)
    if (sameDefinition(current, definition)) return presentWorkflow(row, current)
    return presentWorkflow(await saveVersion(tx, row, definition, { folds: true }), definition)
  })
}
