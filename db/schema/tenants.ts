import { integer, pgTable, text, uniqueIndex } from 'drizzle-orm/pg-core'
import { moment } from './columns'

export const tenants = pgTable(
  'tenants',
  {
    id: text().primaryKey(),
    /** Used in the dashboard's URLs: lower-case letters, digits and hyphens. */
    slug: text().notNull(),
    name: text().notNull(),
    /** How many whole days runs are kept after their end. Null for ever. */
    keepRunsDays: integer(),
    /** How many days entries of the audit log are kept. */
    keepAuditDays: integer().notNull().default(400),
    createdAt: moment().notNull().defaultNow(),
  },
  (t) => [uniqueIndex('tenants_slug').on(t.slug)],
)
