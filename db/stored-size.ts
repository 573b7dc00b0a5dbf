import { type SQL, type SQLWrapper, sql } from 'drizzle-orm'

/**
 * The size of a stored JSON value: the size recorded when it was written or, for older rows without one, computed now.
 */
export function storedSize(counted: SQLWrapper, value: SQLWrapper): SQL<number> {
  return sql<number>`coalesce(${counted}, octet_length(${value}::text), 0)`
}
