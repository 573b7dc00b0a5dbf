import { and, asc, count, desc, eq, ilike, ne, or } from 'drizzle-orm'
import { workflows } from '@/db/schema/workflows'
import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import { parseInput } from '../parse'
import { contains } from '../search-text'
import { LIST_CAP } from '../versioned/columns'
import { ListVersioned } from '../versioned/list-schema'
import { presentItem } from '../versioned/present'

/**
 * The tenant's workflows, newest change first, and how many match in all.
 * @throws AppError INVALID_INPUT
 */
export async function listWorkflows(ctx: ServiceContext, input: unknown) {
  authorize(ctx, 'workflow:read')
  const { search, status, includeArchived, limit = LIST_CAP, offset = 0 } = parseInput(ListVersioned, input)
  const where = and(
    eq(workflows.tenantId, ctx.tenantId),
    status ? eq(workflows.status, status) : includeArchived ? undefined : ne(workflows.status, 'archived'),
    search ? or(ilike(workflows.name, contains(search)), ilike(workflows.description, contains(search))) : undefined,
  )
  const [rows, [total]] = await Promise.all([
    ctx.db
      .select()
      .from(workflows)
      .where(where)
      .orderBy(desc(workflows.updatedAt), asc(workflows.id))
      .limit(limit)
      .offset(offset),
    ctx.db.select({ count: count() }).from(workflows).where(where),
  ])
  return { items: rows.map(presentItem), total: total?.count ?? 0, limit, offset }
}
