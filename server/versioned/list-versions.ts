import { and, count, desc, eq, type SQL, sql } from 'drizzle-orm'
import type { ServiceContext } from '../context'
import { parseInput } from '../parse'
import { LIST_CAP } from './columns'
import { ListVersions } from './list-schema'
import type { One, Row } from './noun'
import { findRow, type Tables } from './rows'

/**
 * The row and its versions, newest first, without their content.
 * @param options.column one more column to read per version
 * @throws AppError the noun's `notFound`, INVALID_INPUT
 */
export async function listVersions<R extends Row, K = string>(
  ctx: ServiceContext,
  noun: Tables<R>,
  input: One & { page: unknown },
  options: { column?: SQL<K> } = {},
) {
  const { limit = LIST_CAP, offset = 0 } = parseInput(ListVersions, input.page)
  const row = await findRow(ctx, noun, input.id)
  const { versions } = noun
  const where = and(eq(versions.tenantId, ctx.tenantId), eq(noun.ownerId, row.id))
  const { version, name, createdBy, createdAt, publishedAt } = versions
  const column = options.column ?? sql<K>`''`
  const [found, [total]] = await Promise.all([
    ctx.db
      .select({ version, name, createdBy, createdAt, publishedAt, column })
      .from(versions)
      .where(where)
      .orderBy(desc(version))
      .limit(limit)
      .offset(offset),
    ctx.db.select({ count: count() }).from(versions).where(where),
  ])
  return { row, versions: found, total: total?.count ?? 0, limit, offset }
}
