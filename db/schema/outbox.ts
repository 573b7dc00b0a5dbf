import { index, pgTable, text } from 'drizzle-orm/pg-core'
import type { JsonObject } from '../../server/definition/json'
import { json, moment } from './columns'
import { tenants } from './tenants'

/**
 * Events that left with the transaction of the change they tell of. The row's id is the event's id,
 * so a row sent twice is one event. Rows are deleted once the engine has taken them.
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
    /** A relay that took the row but has not confirmed it by then has died. */
    leasedUntil: moment(),
  },
  (t) => [index('outbox_order').on(t.createdAt, t.id), index('outbox_tenant').on(t.tenantId)],
)
