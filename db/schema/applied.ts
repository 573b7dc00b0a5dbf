import { boolean, integer, pgTable, primaryKey, text } from 'drizzle-orm/pg-core'
import { moment } from './columns'
import { tenants } from './tenants'

/**
 * The content that `apply` saved last, which shows whether someone else has changed the object since. A table of its
 * own, because runs read the objects.
 */
export const appliedDefinitions = pgTable(
  'applied_definitions',
  {
    tenantId: text()
      .notNull()
      .references(() => tenants.id, { onDelete: 'cascade' }),
    kind: text({ enum: ['agent', 'tool', 'workflow', 'schedule', 'inboundWebhook'] }).notNull(),
    id: text().notNull(),
    /** The version with the applied content; 0 for objects without versions. */
    version: integer().notNull(),
    /** Hash of the applied content, for objects without versions. */
    fingerprint: text(),
    /** True if `prune` archived or deleted it. */
    archived: boolean().notNull().default(false),
    appliedBy: text().notNull(),
    appliedAt: moment().notNull(),
  },
  (t) => [primaryKey({ columns: [t.tenantId, t.kind, t.id] })],
)
