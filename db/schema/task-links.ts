import { foreignKey, index, pgTable, primaryKey, text } from 'drizzle-orm/pg-core'
import { moment } from './columns'
import { pauses } from './runs'

/** Links with which a person without an account answers one task. The link itself is signed, not stored. */
export const taskLinks = pgTable(
  'task_links',
  {
    tenantId: text().notNull(),
    id: text().notNull(),
    runId: text().notNull(),
    pauseId: text().notNull(),
    /** The link's maker. An answer by the link is theirs, unless `answersFor` names another person. */
    makerKind: text({ enum: ['user', 'apiKey', 'jwt', 'system'] }).notNull(),
    makerId: text().notNull(),
    /** If the maker used a token: the secret that signed it. */
    secretId: text(),
    /** The person whom an API key named, or the member to whom the product wrote. */
    answersFor: text(),
    createdAt: moment().notNull().defaultNow(),
    expiresAt: moment().notNull(),
    /** Set together with the answer. */
    usedAt: moment(),
    revokedAt: moment(),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.id] }),
    foreignKey({
      columns: [t.tenantId, t.runId, t.pauseId],
      foreignColumns: [pauses.tenantId, pauses.runId, pauses.id],
      name: 'task_links_pause_fk',
    }).onDelete('cascade'),
    index('task_links_pause').on(t.tenantId, t.runId, t.pauseId),
  ],
)
