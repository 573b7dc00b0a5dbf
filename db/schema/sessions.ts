import { index, pgTable, text } from 'drizzle-orm/pg-core'
import { moment } from './columns'
import { users } from './members'

/** Who is signed in and where. A cookie is only good while its row is, so that signing out ends it here too. */
export const sessions = pgTable(
  'sessions',
  {
    id: text().primaryKey(),
    userId: text()
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    /** The beginning of the browser's own description of itself, for a person to tell sessions apart. */
    agent: text(),
    createdAt: moment().notNull(),
    lastSeenAt: moment().notNull(),
    expiresAt: moment().notNull(),
    revokedAt: moment(),
  },
  (t) => [index('sessions_user').on(t.userId), index('sessions_expiry').on(t.expiresAt)],
)
