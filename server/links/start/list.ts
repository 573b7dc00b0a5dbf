import { and, desc, eq } from 'drizzle-orm'
import { startLinks } from '@/db/schema/start-links'
import { authorize, refuseLimited } from '../../auth/policy'
import type { ServiceContext } from '../../context'
import { tenantMasker } from '../../vault/masker'
import { findRow } from '../../versioned/rows'
import { WORKFLOW } from '../../workflows/noun'
import { LISTED } from './find'
import { presentStartLink } from './present'

const MAX = 1_000

/**
 * The start links of a workflow, newest first, without their tokens.
 * @throws AppError FORBIDDEN, WORKFLOW_NOT_FOUND
 */
export async function listStartLinks(ctx: ServiceContext, { workflowId }: { workflowId: string }) {
  authorize(ctx, 'workflow:read')
  refuseLimited(ctx)
  await findRow(ctx, WORKFLOW, workflowId)
  const [rows, masker] = await Promise.all([
    ctx.db
      .select(LISTED)
      .from(startLinks)
      .where(and(eq(startLinks.tenantId, ctx.tenantId), eq(startLinks.workflowId, workflowId)))
      .orderBy(desc(startLinks.createdAt), desc(startLinks.id))
      .limit(MAX),
    tenantMasker(ctx),
  ])
  return rows.map((row) => presentStartLink(row, masker))
}
