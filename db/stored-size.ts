import { type Column, type SQL, sql } from 'drizzle-orm'

/**
 * The size of a stored JSON value: as it was counted when it was written, else counted now, for rows from before sizes
 * were kept.
 */
export function storedSize(counted: Column, value: Column): SQL<number> {
  return sql<number>`coalesce(${counted}, octet_length(${value}::text), 0)`
}
