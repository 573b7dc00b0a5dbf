import { sql } from 'drizzle-orm'
import { foreignKey, index, pgTable, primaryKey, text } from 'drizzle-orm/pg-core'
import type { Expected, Given } from '../../server/definition/test-case'
import { moment, written } from './columns'
import { tenants } from './tenants'
import { threads } from './threads'

/** Saved tests of an agent, a tool or a workflow: their input and the expected result. */
export const testCases = pgTable(
  'test_cases',
  {
    tenantId: text()
      .notNull()
      .references(() => tenants.id, { onDelete: 'cascade' }),
    noun: text({ enum: ['agent', 'tool', 'workflow'] }).notNull(),
    /** The agent, the tool or the workflow. */
    objectId: text().notNull(),
    id: text().notNull(),
    name: text().notNull(),
    given: written<Given>().notNull(),
    expected: written<Expected>().notNull(),
    /** The thread that its messages come from; the copy is deleted with it. */
    threadId: text(),
    createdBy: text().notNull(),
    createdAt: moment().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.noun, t.objectId, t.id] }),
    foreignKey({
      columns: [t.tenantId, t.threadId],
      foreignColumns: [threads.tenantId, threads.id],
      name: 'test_cases_thread_fk',
    }).onDelete('cascade'),
    index('test_cases_of_thread').on(t.tenantId, t.threadId).where(sql`thread_id is not null`),
  ],
)
