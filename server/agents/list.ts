import { and, asc, count, desc, eq, ilike, ne, or } from 'drizzle-orm'
import { agents } from '@/db/schema/agents'
import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import { parseInput } from '../parse'
import { contains } from '../search-text'
import { LIST_CAP } from '../versioned/columns'
import { presentItem } from '../versioned/present'
import { ListAgents } from './schema'

/** The tenant's agents, newest change first, and how many match in all. @throws AppError INVALID_INPUT */
export async function listAgents(ctx: ServiceContext, input: unknown) {
  authorize(ctx, 'agent:read')
  const { search, status, includeArchived, limit = LIST_CAP, offset = 0 } = parseInput(ListAgents, input)
  const where = and(
    eq(agents.tenantId, ctx.tenantId),
    status ? eq(agents.status, status) : includeArchived ? undefined : ne(agents.status, 'archived'),
    search ? or(ilike(agents.name, contains(search)), ilike(agents.description, contains(search))) : undefined,
  )
  const [rows, [total]] = await Promise.all([
    ctx.db
      .select()
      .from(agents)
      .where(where)
      .orderBy(desc(agents.updatedAt), asc(agents.id))
      .limit(limit)
      .offset(offset),
    ctx.db.select({ count: count() }).from(agents).where(where),
  ])
  return { items: rows.map(presentItem), total: total?.count ?? 0, limit, offset }
}
