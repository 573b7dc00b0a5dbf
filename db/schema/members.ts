import { boolean, index, pgTable, primaryKey, text, uniqueIndex } from 'drizzle-orm/pg-core'
import { json, moment, role } from './columns'
import { tenants } from './tenants'

/** People who sign in. A person may be a member of several tenants, so this table has no tenant. */
export const users = pgTable(
  'users',
  {
    id: text().primaryKey(),
    /** Lower-case. */
    email: text().notNull(),
    name: text().notNull(),
    /** `scrypt$N$r$p$salt$hash`, or null for people who cannot sign in with a password. */
    passwordHash: text(),
    /** When the address was verified, by an identity provider or by the operator. */
    addressProvenAt: moment(),
    createdAt: moment().notNull().defaultNow(),
  },
  (t) => [uniqueIndex('users_email').on(t.email)],
)

export const members = pgTable(
  'members',
  {
    tenantId: text()
      .notNull()
      .references(() => tenants.id, { onDelete: 'cascade' }),
    userId: text()
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    role: role().notNull(),
    /** Whether they want mails about tasks that name them. */
    taskMails: boolean().notNull().default(true),
    /** Their saved filters of the list of runs, by name. */
    runViews: json<{ name: string; query: string }[]>().notNull().default([]),
    createdAt: moment().notNull().defaultNow(),
  },
  (t) => [primaryKey({ columns: [t.tenantId, t.userId] }), index('members_user').on(t.userId)],
)
