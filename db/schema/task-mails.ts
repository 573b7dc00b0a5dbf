import { sql } from 'drizzle-orm'
import { foreignKey, index, integer, pgTable, primaryKey, text, uniqueIndex } from 'drizzle-orm/pg-core'
import { moment } from './columns'
import { pauses } from './runs'

/**
 * Mails to members about tasks that name them or that were given to them. Triggers on `pauses` and `task_claims` write
 * them in the statement of the change, each kind once per person and task; a new reminder, or question, takes the row of the last one.
 */
export const taskMails = pgTable(
  'task_mails',
  {
    tenantId: text().notNull(),
    /** Also the message's id for mail servers, the same at every attempt. */
    id: text().notNull(),
    runId: text().notNull(),
    pauseId: text().notNull(),
    userId: text().notNull(),
    kind: text({ enum: ['assigned', 'given', 'overdue', 'reminder', 'handed', 'asked again'] }).notNull(),
    /** Set when nothing is left to write about, or the person wants no mails. */
    status: text({ enum: ['pending', 'sent', 'failed', 'dropped'] })
      .notNull()
      .default('pending'),
    tries: integer().notNull().default(0),
    /** Why the last attempt failed, or why it was dropped. */
    reason: text(),
    dueAt: moment().notNull().defaultNow(),
    /** Until then, one function call sends it and no other does. */
    leasedUntil: moment(),
    createdAt: moment().notNull().defaultNow(),
    endedAt: moment(),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.id] }),
    foreignKey({
      columns: [t.tenantId, t.runId, t.pauseId],
      foreignColumns: [pauses.tenantId, pauses.runId, pauses.id],
      name: 'task_mails_pause_fk',
    }).onDelete('cascade'),
    uniqueIndex('task_mails_once').on(t.tenantId, t.runId, t.pauseId, t.userId, t.kind),
    index('task_mails_due').on(t.dueAt).where(sql`status = 'pending'`),
    index('task_mails_sent').on(t.tenantId, t.userId, t.endedAt).where(sql`status = 'sent'`),
    index('task_mails_ended').on(t.endedAt).where(sql`ended_at is not null`),
  ],
)
