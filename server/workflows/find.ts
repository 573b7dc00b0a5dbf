import { and, eq } from 'drizzle-orm'
import { workflows, workflowVersions } from '@/db/schema/workflows'
import type { ServiceContext } from '../context'
import { AppError } from '../errors'
import { isId } from '../ids'
import type { WorkflowRow } from './present'
import type { Definition } from './schema'

/**
 * The workflow's row, locked when asked.
 * @throws AppError WORKFLOW_NOT_FOUND, also for another tenant's
 */
export async function getWorkflowRow(
  ctx: ServiceContext,
  id: string,
  options: { lock?: boolean } = {},
): Promise<WorkflowRow> {
  if (!isId(id)) throw new AppError('WORKFLOW_NOT_FOUND')
  const query = ctx.db
    .select()
    .from(workflows)
    .where(and(eq(workflows.tenantId, ctx.tenantId), eq(workflows.id, id)))
  const [row] = await (options.lock ? query.for('update') : query)
  if (!row) throw new AppError('WORKFLOW_NOT_FOUND')
  return row
}

/** What a version says, or null when there is no such version. */
export async function findDefinition(
  ctx: ServiceContext,
  workflowId: string,
  version: number,
): Promise<Definition | null> {
  const [row] = await ctx.db
    .select({ definition: workflowVersions.definition })
    .from(workflowVersions)
    .where(
      and(
        eq(workflowVersions.tenantId, ctx.tenantId),
        eq(workflowVersions.workflowId, workflowId),
        eq(workflowVersions.version, version),
      ),
    )
  return row ? (row.definition as Definition) : null
}

/** @throws AppError WORKFLOW_NOT_FOUND */
export async function getDefinition(ctx: ServiceContext, workflowId: string, version: number): Promise<Definition> {
  const definition = await findDefinition(ctx, workflowId, version)
  if (!definition) throw new AppError('WORKFLOW_NOT_FOUND')
  return definition
}
