import { and, count, desc, eq } from 'drizzle-orm'
import { toolVersions } from '@/db/schema/tools'
import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import { parseInput } from '../parse'
import { LIST_CAP } from '../versioned/columns'
import { getToolRow, getVersionRow } from './find'
import { presentToolVersion, presentToolVersionItem } from './present'
import { ListToolVersions } from './schema'

/**
 * The tool's versions, newest first.
 * @throws AppError TOOL_NOT_FOUND, also for a built-in tool, which has no history; INVALID_INPUT
 */
export async function listToolVersions(ctx: ServiceContext, input: { id: string; page: unknown }) {
  authorize(ctx, 'tool:read')
  const { limit = LIST_CAP, offset = 0 } = parseInput(ListToolVersions, input.page)
  const row = await getToolRow(ctx, input.id)
  const where = and(eq(toolVersions.tenantId, ctx.tenantId), eq(toolVersions.toolId, row.id))
  const { toolId, version, name, kind, createdBy, createdAt, publishedAt } = toolVersions
  const [rows, [total]] = await Promise.all([
    ctx.db
      .select({ toolId, version, name, kind, createdBy, createdAt, publishedAt })
      .from(toolVersions)
      .where(where)
      .orderBy(desc(version))
      .limit(limit)
      .offset(offset),
    ctx.db.select({ count: count() }).from(toolVersions).where(where),
  ])
  return { items: rows.map((item) => presentToolVersionItem(item, row)), total: total?.count ?? 0, limit, offset }
}

/**
 * One version with all it says. `version` is a number, `latest` or `published`.
 * @throws AppError TOOL_NOT_FOUND, also when there is no such version
 */
export async function getToolVersionDetails(ctx: ServiceContext, input: { toolId: string; version: string }) {
  authorize(ctx, 'tool:read')
  const row = await getToolRow(ctx, input.toolId)
  return presentToolVersion(await getVersionRow(ctx, row, input.version), row)
}
