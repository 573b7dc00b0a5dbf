import { foreignKey, index, pgTable, primaryKey, text } from 'drizzle-orm/pg-core'
import { moment } from './columns'
import { pauses } from './runs'

/** Links with which somebody answers one task without signing in. The link itself is signed, not stored. */
export const taskLinks = pgTable(
  'task_links',
  {
    tenantId: text().notNull(),
    id: text().notNull(),
    runId: text().notNull(),
    pauseId: text().notNull(),
    /** Who made it. An answer by the link is theirs, unless `answersFor` names somebody. */
    makerKind: text({ enum: ['user', 'apiKey', 'jwt', 'system'] }).notNull(),
    makerId: text().notNull(),
    /** Of a maker with a token: the secret that signed it. */
    secretId: text(),
    /** Whom an API key named, or the member whom the product wrote to. */
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
