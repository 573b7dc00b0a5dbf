import { and, eq, sql } from 'drizzle-orm'
import { workflows, workflowVersions } from '@/db/schema/workflows'
import type { ServiceContext, TransactionContext } from '../context'
import type { Definition } from '../definition/schema'
import { AppError } from '../errors'
import { isId } from '../ids'
import { findDefinition } from '../interpreter/pinned-definition'
import { resolveVersion } from '../versioned/versions'
import type { WorkflowRow } from './present'

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

/**
 * The workflow and its latest version, or with `effective` the one a start would run. In one statement, since
 * a save between two could fold away the version that the first one named.
 * @throws AppError WORKFLOW_NOT_FOUND
 */
export async function getWorkflowWithDefinition(
  ctx: ServiceContext,
  id: string,
  options: { effective?: boolean } = {},
): Promise<{ row: WorkflowRow; definition: Definition }> {
  if (!isId(id)) throw new AppError('WORKFLOW_NOT_FOUND')
  const version = options.effective
    ? sql`coalesce(${workflows.publishedVersion}, ${workflows.version})`
    : workflows.version
  const [found] = await ctx.db
    .select({ row: workflows, definition: workflowVersions.definition })
    .from(workflows)
    .innerJoin(
      workflowVersions,
      and(
        eq(workflowVersions.tenantId, workflows.tenantId),
        eq(workflowVersions.workflowId, workflows.id),
        eq(workflowVersions.version, version),
      ),
    )
    .where(and(eq(workflows.tenantId, ctx.tenantId), eq(workflows.id, id)))
  if (!found) throw new AppError('WORKFLOW_NOT_FOUND')
  return { row: found.row, definition: found.definition }
}

/**
 * The version that a start means, held until the transaction ends, so that no save folds it and no delete
 * removes it before the run that is pinned to it is there.
 * @throws AppError WORKFLOW_NOT_FOUND, WORKFLOW_ARCHIVED
 */
export async function holdVersion(
  tx: TransactionContext,
  id: string,
  wanted: string | undefined,
): Promise<{ row: WorkflowRow; version: number; definition: Definition }> {
  for (let seen = 0; ; ) {
    const row = await getWorkflowRow(tx, id)
    if (row.status === 'archived') throw new AppError('WORKFLOW_ARCHIVED')
    const version = resolveVersion(wanted ?? (row.publishedVersion === null ? 'latest' : 'published'), row)
    // The latest one may be folded between the two statements; then the row names a newer one by now.
    if (version === null || version === seen) throw new AppError('WORKFLOW_NOT_FOUND')
    seen = version
    const [held] = await tx.db
      .select({ definition: workflowVersions.definition })
      .from(workflowVersions)
      .where(versionIs(tx, id, version))
      .for('key share')
    if (held) return { row, version, definition: held.definition }
  }
}

/** @throws AppError WORKFLOW_NOT_FOUND */
export async function getDefinition(ctx: ServiceContext, workflowId: string, version: number): Promise<Definition> {
  const definition = await findDefinition(ctx, workflowId, version)
  if (!definition) throw new AppError('WORKFLOW_NOT_FOUND')
  return definition
}

/** The condition that picks one version. */
export function versionIs(ctx: ServiceContext, workflowId: string, version: number) {
  return and(
    eq(workflowVersions.tenantId, ctx.tenantId),
    eq(workflowVersions.workflowId, workflowId),
    eq(workflowVersions.version, version),
  )
}
