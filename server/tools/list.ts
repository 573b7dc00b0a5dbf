import { and, asc, count, desc, eq, ilike, ne, or } from 'drizzle-orm'
import { tools, toolVersions } from '@/db/schema/tools'
import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import { parseInput } from '../parse'
import { contains } from '../search-text'
import { LIST_CAP } from '../versioned/columns'
import { BUILTIN_TOOLS } from './builtin'
import { presentBuiltin, presentToolItem } from './present'
import { ListTools } from './schema'

/**
 * The tenant's tools, newest change first, and how many match in all; with `kind=builtin` those that everybody has.
 * @throws AppError INVALID_INPUT
 */
export async function listTools(ctx: ServiceContext, input: unknown) {
  authorize(ctx, 'tool:read')
  const { search, status, kind, includeArchived, limit = LIST_CAP, offset = 0 } = parseInput(ListTools, input)
  if (kind === 'builtin') return listBuiltin({ search, status, limit, offset })
  const where = and(
    eq(tools.tenantId, ctx.tenantId),
    kind ? eq(toolVersions.kind, kind) : undefined,
    status ? eq(tools.status, status) : includeArchived ? undefined : ne(tools.status, 'archived'),
    search ? or(ilike(tools.name, contains(search)), ilike(tools.description, contains(search))) : undefined,
  )
  const latest = and(
    eq(toolVersions.tenantId, tools.tenantId),
    eq(toolVersions.toolId, tools.id),
    eq(toolVersions.version, tools.version),
  )
  const [rows, [total]] = await Promise.all([
    ctx.db
      .select({ row: tools, kind: toolVersions.kind })
      .from(tools)
      .innerJoin(toolVersions, latest)
      .where(where)
      .orderBy(desc(tools.updatedAt), asc(tools.id))
      .limit(limit)
      .offset(offset),
    ctx.db.select({ count: count() }).from(tools).innerJoin(toolVersions, latest).where(where),
  ])
  const items = rows.map((found) => presentToolItem(found.row, found.kind))
  return { items, total: total?.count ?? 0, limit, offset }
}

function listBuiltin(query: { search: string | undefined; status: string | undefined; limit: number; offset: number }) {
  const { search = '', status = 'published', limit, offset } = query
  const found = Object.values(BUILTIN_TOOLS)
    .filter(({ name, description }) => `${name}\n${description}`.toLowerCase().includes(search.toLowerCase()))
    .filter(() => status === 'published')
    .map(presentBuiltin)
  const items = found.slice(offset, offset + limit).map((tool) => {
    const { id, name, description, kind, createdAt, updatedAt, version, publishedVersion } = tool
    return { id, name, description, kind, status: tool.status, createdAt, updatedAt, version, publishedVersion }
  })
  return { items, total: found.length, limit, offset }
}
