import { sql } from 'drizzle-orm'
import { index, integer, pgTable, primaryKey, text } from 'drizzle-orm/pg-core'
import { json, moment } from './columns'
import { tenants } from './tenants'

/** Requests with an `Idempotency-Key`, kept for 24 hours: a repeated request gets the same answer. */
export const idempotencyKeys = pgTable(
  'idempotency_keys',
  {
    tenantId: text()
      .notNull()
      .references(() => tenants.id, { onDelete: 'cascade' }),
    /** SHA-256 of credential, method and path: the same key elsewhere is a different key. */
    scope: text().notNull(),
    key: text().notNull(),
    /** The `sub` of the token, if it came with one: its responses are that person's data. */
    subject: text(),
    /** SHA-256 of the query and the body. */
    requestHash: text().notNull(),
    state: text({ enum: ['working', 'done'] }).notNull(),
    /** The request that is processing it. A request that lost the row to another can no longer commit. */
    owner: text().notNull(),
    /** When an owner has not renewed its lease by this time it has died, and the next request takes over. */
    leasedUntil: moment().notNull(),
    /** The results of the request's transactions, each written in its own transaction so that a repeat skips them. */
    effects: json<string[]>().notNull(),
    status: integer(),
    headers: json<Record<string, string>>(),
    /** The response body. */
    body: text(),
    createdAt: moment().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.scope, t.key] }),
    index('idempotency_keys_age').on(t.createdAt),
    index('idempotency_keys_of_subject').on(t.tenantId, t.subject).where(sql`subject is not null`),
  ],
)
