import { type SQL, type SQLWrapper, sql } from 'drizzle-orm'

/**
 * The size of a stored JSON value: as it was counted when it was written, else counted now, for rows from before sizes
 * were kept.
 */
export function storedSize(counted: SQLWrapper, value: SQLWrapper): SQL<number> {
  return sql<number>`coalesce(${counted}, octet_length(${value}::text), 0)`
}
