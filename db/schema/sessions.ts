import { index, pgTable, text } from 'drizzle-orm/pg-core'
import { moment } from './columns'
import { users } from './members'

/** Signed-in sessions. A cookie is valid only while its row exists, so signing out also ends the session here. */
export const sessions = pgTable(
  'sessions',
  {
    id: text().primaryKey(),
    userId: text()
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    /** The start of the browser's User-Agent, so that people can distinguish sessions. */
    agent: text(),
    createdAt: moment().notNull(),
    lastSeenAt: moment().notNull(),
    expiresAt: moment().notNull(),
    revokedAt: moment(),
  },
  (t) => [index('sessions_user').on(t.userId), index('sessions_expiry').on(t.expiresAt)],
)
