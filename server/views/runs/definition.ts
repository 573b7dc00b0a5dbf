import { and, eq } from 'drizzle-orm'
import { workflows } from '@/db/schema/workflows'
import { authorize } from '../../auth/policy'
import type { ServiceContext } from '../../context'
import { pinnedDefinition } from '../../run-store/definition'
import { getRunRow } from '../../run-store/find-run'
import { tenantMasker } from '../../vault/masker'

/**
 * The graph of a run: the definition of its pinned version, even if the workflow has changed since, and the steps'
 * current positions in the editor. Leaves ids unmasked, because the run's steps are found by them.
 * @throws AppError RUN_NOT_FOUND
 */
export async function getRunDefinition(ctx: ServiceContext, { runId }: { runId: string }) {
  authorize(ctx, 'run:read')
  const { workflowId, workflowVersion } = await getRunRow(ctx, runId)
  const [pinned, masker, [workflow]] = await Promise.all([
    pinnedDefinition(ctx, workflowId, workflowVersion),
    tenantMasker(ctx),
    ctx.db
      .select({ layout: workflows.layout })
      .from(workflows)
      .where(and(eq(workflows.tenantId, ctx.tenantId), eq(workflows.id, workflowId))),
  ])
  const definition = {
    ...pinned,
    name: masker.text(pinned.name),
    description: masker.text(pinned.description),
    payload: masker.json(pinned.payload),
    steps: pinned.steps.map(({ id, type, ...config }) => ({ ...masker.json(config), id, type })),
    edges: pinned.edges.map(({ from, to, ...edge }) => ({ ...masker.json(edge), from, to })),
  }
  return { version: workflowVersion, definition, layout: workflow?.layout ?? {} }
}
