import { index, pgTable, text } from 'drizzle-orm/pg-core'
import type { JsonObject } from '../../server/definition/json'
import { json, moment } from './columns'
import { tenants } from './tenants'

/**
 * Events written in the same transaction as the change they report. The row's id is the event's id, so a row sent twice
 * is still one event. Rows are deleted once the engine has accepted them.
 */
export const outbox = pgTable(
  'outbox',
  {
    id: text().primaryKey(),
    tenantId: text()
      .notNull()
      .references(() => tenants.id, { onDelete: 'cascade' }),
    name: text().notNull(),
    data: json<JsonObject>().notNull(),
    createdAt: moment().notNull().defaultNow(),
    /** A relay that has not confirmed the row by this time has died. */
    leasedUntil: moment(),
  },
  (t) => [index('outbox_order').on(t.createdAt, t.id), index('outbox_tenant').on(t.tenantId)],
)
