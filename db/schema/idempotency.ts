import { sql } from 'drizzle-orm'
import { index, integer, pgTable, primaryKey, text } from 'drizzle-orm/pg-core'
import { json, moment } from './columns'
import { tenants } from './tenants'

/** Requests with an `Idempotency-Key`, retained for 24 hours: a repeated request gets the same response. */
export const idempotencyKeys = pgTable(
  'idempotency_keys',
  {
    tenantId: text()
      .notNull()
      .references(() => tenants.id, { onDelete: 'cascade' }),
    /**
     * SHA-256 of credential, method and path: the same key on another path, or with another credential, is a different
     * key.
     */
    scope: text().notNull(),
    key: text().notNull(),
    /** The token's `sub`, if any: its responses are that person's data. */
    subject: text(),
    /** SHA-256 of the query and the body. */
    requestHash: text().notNull(),
    state: text({ enum: ['working', 'done'] }).notNull(),
    /** The request that is processing it. A request that lost the row to another can no longer commit. */
    owner: text().notNull(),
    /** An owner that has not renewed its lease by this time has died; the next request takes over. */
    leasedUntil: moment().notNull(),
    /** The results of the request's transactions, each stored by its own transaction, so that a repeat skips them. */
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
