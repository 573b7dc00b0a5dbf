import { doublePrecision, pgTable, text } from 'drizzle-orm/pg-core'

/** How much of their rate callers have used, where several processes count together. Rows in the past mean nothing. */
export const rateBuckets = pgTable('rate_buckets', {
  /** What is limited and who: an address has no tenant. */
  id: text().primaryKey(),
  /** The moment, in milliseconds since 1970, at which the bucket is full again. */
  fullAt: doublePrecision().notNull(),
})
