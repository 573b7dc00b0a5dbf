import { boolean, integer, pgTable, primaryKey, text } from 'drizzle-orm/pg-core'
import { moment } from './columns'
import { tenants } from './tenants'

/**
 * What `apply` saved last, so that it knows whether somebody else has changed it since. Not a column of the objects, which
 * runs read.
 */
export const appliedDefinitions = pgTable(
  'applied_definitions',
  {
    tenantId: text()
      .notNull()
      .references(() => tenants.id, { onDelete: 'cascade' }),
    kind: text({ enum: ['agent', 'tool', 'workflow'] }).notNull(),
    id: text().notNull(),
    /** The version with the content that was applied. */
    version: integer().notNull(),
    /** True if `prune` archived it. */
    archived: boolean().notNull().default(false),
    appliedBy: text().notNull(),
    appliedAt: moment().notNull(),
  },
  (t) => [primaryKey({ columns: [t.tenantId, t.kind, t.id] })],
)
