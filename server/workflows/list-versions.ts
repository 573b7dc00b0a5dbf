import { and, count, desc, eq } from 'drizzle-orm'
import { workflowVersions } from '@/db/schema/workflows'
import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import { parseInput } from '../parse'
import { LIST_CAP } from '../versioned/columns'
import { ListVersions } from '../versioned/list-schema'
import { presentVersionItem } from '../versioned/present'
import { getWorkflowRow } from './find'

/**
 * The workflow's versions, newest first. Numbers may be missing: those saves were folded into the next one.
 * @throws AppError WORKFLOW_NOT_FOUND, INVALID_INPUT
 */
export async function listVersions(ctx: ServiceContext, input: { id: string; page: unknown }) {
  authorize(ctx, 'workflow:read')
  const { limit = LIST_CAP, offset = 0 } = parseInput(ListVersions, input.page)
  const row = await getWorkflowRow(ctx, input.id)
  const where = and(eq(workflowVersions.tenantId, ctx.tenantId), eq(workflowVersions.workflowId, row.id))
  const { workflowId, version, name, createdBy, createdAt, burstSince, publishedAt } = workflowVersions
  const [rows, [total]] = await Promise.all([
    ctx.db
      .select({ workflowId, version, name, createdBy, createdAt, burstSince, publishedAt })
      .from(workflowVersions)
      .where(where)
      .orderBy(desc(version))
      .limit(limit)
      .offset(offset),
    ctx.db.select({ count: count() }).from(workflowVersions).where(where),
  ])
  return { items: rows.map((item) => presentVersionItem(item, row)), total: total?.count ?? 0, limit, offset }
}
