import { sql } from 'drizzle-orm'
import { foreignKey, index, pgTable, primaryKey, text, uniqueIndex } from 'drizzle-orm/pg-core'
import { moment } from './columns'
import { members } from './members'
import { tenants } from './tenants'

/** Named sets of members, to which steps assign tasks. */
export const groups = pgTable(
  'groups',
  {
    tenantId: text()
      .notNull()
      .references(() => tenants.id, { onDelete: 'cascade' }),
    id: text().notNull(),
    name: text().notNull(),
    /** The name as assignees have it: `sameGroup`. */
    key: text().notNull(),
    /** Keys of earlier names, oldest first: definitions and open tasks may still have them. No other group has them. */
    earlierKeys: text().array().notNull().default(sql`'{}'`),
    createdAt: moment().notNull(),
    updatedAt: moment().notNull(),
  },
  (t) => [primaryKey({ columns: [t.tenantId, t.id] }), uniqueIndex('groups_key').on(t.tenantId, t.key)],
)

export const groupMembers = pgTable(
  'group_members',
  {
    tenantId: text().notNull(),
    groupId: text().notNull(),
    userId: text().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.groupId, t.userId] }),
    foreignKey({
      columns: [t.tenantId, t.groupId],
      foreignColumns: [groups.tenantId, groups.id],
      name: 'group_members_group_fk',
    }).onDelete('cascade'),
    foreignKey({
      columns: [t.tenantId, t.userId],
      foreignColumns: [members.tenantId, members.userId],
      name: 'group_members_member_fk',
    }).onDelete('cascade'),
    index('group_members_user').on(t.tenantId, t.userId),
  ],
)
