import { integer, pgTable, text, uniqueIndex } from 'drizzle-orm/pg-core'
import type { AgentLimits } from '../../server/definition/agent'
import { json, moment } from './columns'

export const tenants = pgTable(
  'tenants',
  {
    id: text().primaryKey(),
    /** Used in the dashboard's URLs: lower-case letters, digits and hyphens. */
    slug: text().notNull(),
    name: text().notNull(),
    /** How many whole days runs are retained after their end. Null means forever. */
    keepRunsDays: integer(),
    /** How many days audit log entries are retained. */
    keepAuditDays: integer().notNull().default(400),
    /** What all agents together, and each of them, may use. Null for no limits. */
    agentLimits: json<AgentLimits>(),
    createdAt: moment().notNull().defaultNow(),
  },
  (t) => [uniqueIndex('tenants_slug').on(t.slug)],
)
