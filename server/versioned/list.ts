import { and, asc, count, desc, eq, ne, or, type SQL, sql } from 'drizzle-orm'
import { rowsInReach } from '../auth/reach'
import type { ServiceContext } from '../context'
import { hasText } from '../query/search-text'
import { LIST_CAP } from './columns'
import type { ListQuery } from './list-schema'
import type { Row } from './noun'
import { ownRow, type Tables } from './rows'

/**
 * The tenant's rows, most recently changed first, and the total number of matches.
 * @param options.where a condition in addition to the query
 * @param options.column one more column to read per row
 */
export async function list<R extends Row, K extends string>(
  ctx: ServiceContext,
  noun: Tables<R>,
  query: ListQuery,
  options: { where?: SQL | undefined; column?: SQL<K> } = {},
) {
  const { table, word } = noun
  const { search, status, includeArchived, limit = LIST_CAP, offset = 0 } = query
  const where = and(
    eq(table.tenantId, ctx.tenantId),
    rowsInReach(ctx, word, table.id),
    options.where,
    status ? eq(table.status, status) : includeArchived ? undefined : ne(table.status, 'archived'),
    search ? or(hasText(table.name, search), hasText(table.description, search)) : undefined,
  )
  const column = options.column ?? sql<K>`''`
  const [found, [total]] = await Promise.all([
    ctx.db
      .select({ row: table, column })
      .from(table)
      .where(where)
      .orderBy(desc(table.updatedAt), asc(table.id))
      .limit(limit)
      .offset(offset),
    ctx.db.select({ count: count() }).from(table).where(where),
  ])
  const rows = found.map(({ row, column }) => ({ row: ownRow(noun, row), column }))
  return { rows, total: total?.count ?? 0, limit, offset }
}
