import { boolean, foreignKey, index, pgTable, primaryKey, text, uniqueIndex } from 'drizzle-orm/pg-core'
import { moment, role } from './columns'
import { tenants } from './tenants'

/** Signing secrets: customers' backends use them to sign tokens for their users. */
export const signingSecrets = pgTable(
  'signing_secrets',
  {
    tenantId: text()
      .notNull()
      .references(() => tenants.id, { onDelete: 'cascade' }),
    /** A token names this as its `kid`. */
    id: text().notNull(),
    name: text().notNull(),
    /** The permissions of its tokens. Never taken from a token. */
    role: role().notNull(),
    /** The workflows and agents that its tokens may use; null for all. */
    workflowIds: text().array(),
    agentIds: text().array(),
    /** Whether its tokens may use only runs that their own subject started. */
    ownRuns: boolean().notNull().default(false),
    /**
     * The secret, sealed for `tenantId:id`. It is not hashed because checking an HMAC needs the secret itself. Shown
     * once.
     */
    sealed: text().notNull(),
    createdBy: text(),
    createdAt: moment().notNull().defaultNow(),
    disabledAt: moment(),
    lastUsedAt: moment(),
    /** When a token that is valid for more than the recommended hour was last seen. */
    longLivedAt: moment(),
    rotatedFrom: text(),
    /** After a rotation, tokens of the old secret work until this time. */
    graceUntil: moment(),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.id] }),
    // Does not start with the tenant, because a request's tenant is derived from the token's `kid`.
    uniqueIndex('signing_secrets_id').on(t.id),
    index('signing_secrets_rotated_from').on(t.tenantId, t.rotatedFrom),
    foreignKey({
      columns: [t.tenantId, t.rotatedFrom],
      foreignColumns: [t.tenantId, t.id],
      name: 'signing_secrets_rotated_from_fk',
    }),
  ],
)
