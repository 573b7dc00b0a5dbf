import { foreignKey, index, integer, pgTable, primaryKey, text } from 'drizzle-orm/pg-core'
import type { AgentConfig } from '../../server/definition/agent'
import { moment, resource, written } from './columns'
import { tenants } from './tenants'

/** An agent as last saved, and its published version. */
export const agents = pgTable(
  'agents',
  {
    tenantId: text()
      .notNull()
      .references(() => tenants.id, { onDelete: 'cascade' }),
    id: text().notNull(),
    ...resource(),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.id] }),
    index('agents_updated').on(t.tenantId, t.updatedAt.desc(), t.id),
  ],
)

/** An immutable version of an agent: name, instructions, model, tools, output schema and hand-offs. */
export const agentVersions = pgTable(
  'agent_versions',
  {
    tenantId: text().notNull(),
    agentId: text().notNull(),
    version: integer().notNull(),
    name: text().notNull(),
    config: written<AgentConfig>().notNull(),
    createdBy: text().notNull(),
    createdAt: moment().notNull().defaultNow(),
    publishedAt: moment(),
    /** Its publisher's note. */
    note: text(),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.agentId, t.version] }),
    foreignKey({
      columns: [t.tenantId, t.agentId],
      foreignColumns: [agents.tenantId, agents.id],
      name: 'agent_versions_agent_fk',
    }).onDelete('cascade'),
  ],
)
