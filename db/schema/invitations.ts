import { index, pgTable, primaryKey, text, uniqueIndex } from 'drizzle-orm/pg-core'
import { moment, role } from './columns'
import { tenants } from './tenants'

/** Links with which somebody becomes a member. Each works once. */
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
    /** SHA-256 of the link's token in hex. The token itself is shown once and never stored. */
    tokenHash: text().notNull(),
    createdBy: text().notNull(),
    createdAt: moment().notNull(),
    expiresAt: moment().notNull(),
    acceptedAt: moment(),
    revokedAt: moment(),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.id] }),
    // Does not begin with the tenant: whoever opens the link knows no tenant yet.
    uniqueIndex('invitations_token').on(t.tokenHash),
    index('invitations_email').on(t.email),
  ],
)
