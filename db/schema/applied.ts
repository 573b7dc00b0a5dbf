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
    kind: text({ enum: ['agent', 'tool', 'workflow', 'schedule', 'inboundWebhook'] }).notNull(),
    id: text().notNull(),
    /** The version with the content that was applied; 0 for what has no versions. */
    version: integer().notNull(),
    /** Of the content that was applied, for what has no versions. */
    fingerprint: text(),
    /** True if `prune` archived or deleted it. */
    archived: boolean().notNull().default(false),
    appliedBy: text().notNull(),
    appliedAt: moment().notNull(),
  },
  (t) => [primaryKey({ columns: [t.tenantId, t.kind, t.id] })],
)
