import { sql } from 'drizzle-orm'
import { bigint, date, doublePrecision, index, integer, pgTable, primaryKey, text } from 'drizzle-orm/pg-core'
import { tenants } from './tenants'

/** What model calls of agents used on a day (UTC): of the workspace, of each agent and of each subject of tokens. */
export const usageDays = pgTable(
  'usage_days',
  {
    tenantId: text()
      .notNull()
      .references(() => tenants.id, { onDelete: 'cascade' }),
    day: date({ mode: 'string' }).notNull(),
    kind: text({ enum: ['workspace', 'agent', 'subject'] }).notNull(),
    /** The agent's id or the subject; empty for the workspace. */
    key: text().notNull(),
    calls: integer().notNull(),
    /** Tokens. Those that a provider had in its cache are among `input`. */
    input: bigint({ mode: 'number' }).notNull(),
    cached: bigint({ mode: 'number' }).notNull(),
    output: bigint({ mode: 'number' }).notNull(),
    /** In US dollars, of the calls whose price is known. */
    cost: doublePrecision().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.day, t.kind, t.key] }),
    index('usage_days_by_day').on(t.day),
    index('usage_days_of_subject').on(t.tenantId, t.key).where(sql`kind = 'subject'`),
  ],
)
