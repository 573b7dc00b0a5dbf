import { and, count, desc, eq } from 'drizzle-orm'
import { agentVersions } from '@/db/schema/agents'
import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import { parseInput } from '../parse'
import { LIST_CAP } from '../versioned/columns'
import { presentVersionItem } from '../versioned/present'
import { getAgentRow } from './find'
import { ListAgentVersions } from './schema'

/** The agent's versions, newest first. @throws AppError AGENT_NOT_FOUND, INVALID_INPUT */
export async function listAgentVersions(ctx: ServiceContext, input: { agentId: string; page: unknown }) {
  authorize(ctx, 'agent:read')
  const { limit = LIST_CAP, offset = 0 } = parseInput(ListAgentVersions, input.page)
  const row = await getAgentRow(ctx, input.agentId)
  const where = and(eq(agentVersions.tenantId, ctx.tenantId), eq(agentVersions.agentId, row.id))
  const { agentId, version, name, createdBy, createdAt, publishedAt } = agentVersions
  const [rows, [total]] = await Promise.all([
    ctx.db
      .select({ agentId, version, name, createdBy, createdAt, publishedAt })
      .from(agentVersions)
      .where(where)
      .orderBy(desc(version))
      .limit(limit)
      .offset(offset),
    ctx.db.select({ count: count() }).from(agentVersions).where(where),
  ])
  return { items: rows.map((item) => presentVersionItem(item, row)), total: total?.count ?? 0, limit, offset }
}
