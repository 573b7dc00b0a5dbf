import { pgTable, primaryKey, text } from 'drizzle-orm/pg-core'
import { moment } from './columns'
import { tenants } from './tenants'

/** Values that tools send to other services: referenced by name in a tool's configuration, never shown. */
export const vaultSecrets = pgTable(
  'vault_secrets',
  {
    tenantId: text()
      .notNull()
      .references(() => tenants.id, { onDelete: 'cascade' }),
    name: text().notNull(),
    /** The value, sealed for `tenantId:name`. */
    sealed: text().notNull(),
    /** The hosts it may be sent to: `api.example.com` or `*.example.com`, optionally with a port. Null: any. */
    hosts: text().array(),
    createdBy: text().notNull(),
    updatedBy: text().notNull(),
    createdAt: moment().notNull().defaultNow(),
    updatedAt: moment().notNull().defaultNow(),
  },
  (t) => [primaryKey({ columns: [t.tenantId, t.name] })],
)
