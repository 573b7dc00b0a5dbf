import { index, integer, pgTable, primaryKey, text } from 'drizzle-orm/pg-core'
import { json, moment } from './columns'
import { tenants } from './tenants'

/** Requests that came with an `Idempotency-Key`, kept 24 hours: the same request again gets the same answer. */
export const idempotencyKeys = pgTable(
  'idempotency_keys',
  {
    tenantId: text()
      .notNull()
      .references(() => tenants.id, { onDelete: 'cascade' }),
    /** SHA-256 of credential, method and path: the same key elsewhere is another one. */
    scope: text().notNull(),
    key: text().notNull(),
    /** SHA-256 of the query and the body. */
    requestHash: text().notNull(),
    state: text({ enum: ['working', 'done'] }).notNull(),
    /** The request at work on it; one that lost the row to another commits nothing any more. */
    owner: text().notNull(),
    /** An owner that has not prolonged its lease by then has died, and the next request takes over. */
    leasedUntil: moment().notNull(),
    /** What the request's transactions returned, each written in its own transaction: a repeat does not do them again. */
    effects: json<string[]>().notNull(),
    status: integer(),
    headers: json<Record<string, string>>(),
    /** The answer's bytes. */
    body: text(),
    createdAt: moment().notNull(),
  },
  (t) => [primaryKey({ columns: [t.tenantId, t.scope, t.key] }), index('idempotency_keys_age').on(t.createdAt)],
)
