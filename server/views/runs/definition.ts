import { authorize } from '../../auth/policy'
import type { ServiceContext } from '../../context'
import { getRunRow } from '../../interpreter/find-run'
import { pinnedDefinition } from '../../interpreter/pinned-definition'

/**
 * What the version says that a run is pinned to, whatever became of its workflow.
 * @throws AppError RUN_NOT_FOUND
 */
export async function getRunDefinition(ctx: ServiceContext, runId: string) {
  authorize(ctx, 'run:read')
  const { workflowId, workflowVersion } = await getRunRow(ctx, runId)
  return { version: workflowVersion, ...(await pinnedDefinition(ctx, workflowId, workflowVersion)) }
}
