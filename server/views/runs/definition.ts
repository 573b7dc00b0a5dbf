import { authorize } from '../../auth/policy'
import type { ServiceContext } from '../../context'
import { getRunRow } from '../../interpreter/find-run'
import { pinnedDefinition } from '../../interpreter/pinned-definition'
import { tenantMasker } from '../../vault/masker'

/**
 * The definition of the version a run is pinned to, whatever has happened to its workflow since. Keeps ids unmasked,
 * because the run's steps are found by them.
 * @throws AppError RUN_NOT_FOUND
 */
export async function getRunDefinition(ctx: ServiceContext, { runId }: { runId: string }) {
  authorize(ctx, 'run:read')
  const { workflowId, workflowVersion } = await getRunRow(ctx, runId)
  const [pinned, masker] = await Promise.all([pinnedDefinition(ctx, workflowId, workflowVersion), tenantMasker(ctx)])
  return {
    version: workflowVersion,
    ...pinned,
    name: masker.text(pinned.name),
    description: masker.text(pinned.description),
    payload: masker.json(pinned.payload),
    steps: pinned.steps.map(({ id, type, ...config }) => ({ ...masker.json(config), id, type })),
    edges: pinned.edges.map(({ from, to, ...edge }) => ({ ...masker.json(edge), from, to })),
  }
}
