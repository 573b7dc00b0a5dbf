import { boolean, pgTable, primaryKey, text, uniqueIndex } from 'drizzle-orm/pg-core'
import { moment, role } from './columns'
import { tenants } from './tenants'

/** Secrets with which customers' backends sign tokens for their users. */
export const signingSecrets = pgTable(
  'signing_secrets',
  {
    tenantId: text()
      .notNull()
      .references(() => tenants.id, { onDelete: 'cascade' }),
    /** What a token names as its `kid`. */
    id: text().notNull(),
    name: text().notNull(),
    /** What its tokens may do: never taken from a token. */
    role: role().notNull(),
    /** The workflows and the agents its tokens may touch; null for all. */
    workflowIds: text().array(),
    agentIds: text().array(),
    /** Whether its tokens touch only runs that their own subject started. */
    ownRuns: boolean().notNull().default(false),
    /** The secret, sealed for `tenantId:id`: checking an HMAC needs the secret itself. Shown once. */
    sealed: text().notNull(),
    createdBy: text(),
    createdAt: moment().notNull().defaultNow(),
    disabledAt: moment(),
    lastUsedAt: moment(),
    /** When a token was last seen that lives longer than the recommended hour. */
    longLivedAt: moment(),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.id] }),
    // Does not begin with the tenant: the tenant of a request is derived from the token's `kid`.
    uniqueIndex('signing_secrets_id').on(t.id),
  ],
)
