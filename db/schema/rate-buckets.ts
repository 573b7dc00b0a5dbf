import { doublePrecision, pgTable, text } from 'drizzle-orm/pg-core'

/** How much of their rate limit callers have used, across processes. Rows in the past have no effect. */
export const rateBuckets = pgTable('rate_buckets', {
  /** Names the limit and the caller. An IP address has no tenant. */
  id: text().primaryKey(),
  /** When the bucket is full again, in milliseconds since 1970. */
  fullAt: doublePrecision().notNull(),
})
