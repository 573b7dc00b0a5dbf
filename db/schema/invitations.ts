import { index, pgTable, primaryKey, text, uniqueIndex } from 'drizzle-orm/pg-core'
import { moment, role } from './columns'
import { tenants } from './tenants'

/** Invitation links. Each works once. */
export const invitations = pgTable(
  'invitations',
  {
    tenantId: text()
      .notNull()
      .references(() => tenants.id, { onDelete: 'cascade' }),
    id: text().notNull(),
    /** Lower-case. */
    email: text().notNull(),
    role: role().notNull(),
    /** SHA-256 of the link's token, in hex. The token itself is shown once and never stored. */
    tokenHash: text().notNull(),
    createdBy: text().notNull(),
    createdAt: moment().notNull(),
    expiresAt: moment().notNull(),
    acceptedAt: moment(),
    revokedAt: moment(),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.id] }),
    // Does not start with the tenant, because the link does not contain it.
    uniqueIndex('invitations_token').on(t.tokenHash),
    index('invitations_email').on(t.email),
  ],
)
