import { integer, pgTable, primaryKey, text } from 'drizzle-orm/pg-core'
import type { JsonObject } from '../../server/definition/json'
import { moment, written } from './columns'
import { tenants } from './tenants'

/**
 * The draft of an agent or a tool, beside its versions: callers who ask for the latest version never get half a
 * sentence. The row outlives its content, so that no revision comes twice.
 */
export const drafts = pgTable(
  'drafts',
  {
    tenantId: text()
      .notNull()
      .references(() => tenants.id, { onDelete: 'cascade' }),
    noun: text({ enum: ['agent', 'tool'] }).notNull(),
    id: text().notNull(),
    /** Rises with every save, and when the draft is published or discarded. */
    revision: integer().notNull(),
    /** The version it was based on. */
    baseVersion: integer().notNull(),
    /** As typed, so it may break rules that versions obey. Null when the draft equals the latest version. */
    content: written<JsonObject>(),
    updatedBy: text().notNull(),
    updatedAt: moment().notNull(),
  },
  (t) => [primaryKey({ columns: [t.tenantId, t.noun, t.id] })],
)
