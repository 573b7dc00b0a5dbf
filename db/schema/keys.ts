import { foreignKey, index, pgTable, primaryKey, text, uniqueIndex } from 'drizzle-orm/pg-core'
import { moment, role } from './columns'
import { tenants } from './tenants'

export const apiKeys = pgTable(
  'api_keys',
  {
    tenantId: text()
      .notNull()
      .references(() => tenants.id, { onDelete: 'cascade' }),
    id: text().notNull(),
    name: text().notNull(),
    role: role().notNull(),
    /** The only operation it may do, in place of those of its role. Set when it is created. */
    only: text().$type<'definitions:check'>(),
    /** SHA-256 of the whole key, in hex. The key itself is shown once and never stored. */
    hash: text().notNull(),
    /** The first and last characters, enough to distinguish keys. */
    hint: text().notNull(),
    createdBy: text(),
    createdAt: moment().notNull().defaultNow(),
    lastUsedAt: moment(),
    disabledAt: moment(),
    rotatedFrom: text(),
    /** After a rotation, the old key works until this time. */
    graceUntil: moment(),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.id] }),
    // Does not start with the tenant, because a request's tenant is derived from its key.
    uniqueIndex('api_keys_hash').on(t.hash),
    index('api_keys_rotated_from').on(t.tenantId, t.rotatedFrom),
    foreignKey({
      columns: [t.tenantId, t.rotatedFrom],
      foreignColumns: [t.tenantId, t.id],
      name: 'api_keys_rotated_from_fk',
    }),
  ],
)
