import { index, pgTable, primaryKey, text } from 'drizzle-orm/pg-core'
import { moment } from './columns'
import { tenants } from './tenants'

/** The origins whose pages may call the API with a tenant's tokens. */
export const corsOrigins = pgTable(
  'cors_origins',
  {
    tenantId: text()
      .notNull()
      .references(() => tenants.id, { onDelete: 'cascade' }),
    /** As browsers send it: `https://app.example.com`. */
    origin: text().notNull(),
    createdAt: moment().notNull().defaultNow(),
  },
  // A preflight carries no credential, so it is checked against all tenants together.
  (t) => [primaryKey({ columns: [t.tenantId, t.origin] }), index('cors_origins_origin').on(t.origin)],
)
