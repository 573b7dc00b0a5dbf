import { foreignKey, index, integer, pgTable, primaryKey, text } from 'drizzle-orm/pg-core'
import type { JsonObject } from '../../server/definition/json'
import type { ToolKind } from '../../server/definition/tool'
import { moment, resource, written } from './columns'
import { tenants } from './tenants'

export const tools = pgTable(
  'tools',
  {
    tenantId: text()
      .notNull()
      .references(() => tenants.id, { onDelete: 'cascade' }),
    id: text().notNull(),
    ...resource(),
    createdBy: text().notNull().default('system'),
    updatedBy: text().notNull().default('system'),
  },
  (t) => [primaryKey({ columns: [t.tenantId, t.id] }), index('tools_updated').on(t.tenantId, t.updatedAt.desc(), t.id)],
)

/** An immutable version of a tool. `config` is a union on `kind`. */
export const toolVersions = pgTable(
  'tool_versions',
  {
    tenantId: text().notNull(),
    toolId: text().notNull(),
    version: integer().notNull(),
    name: text().notNull().default(''),
    description: text().notNull().default(''),
    kind: text().$type<ToolKind>().notNull(),
    config: written<JsonObject>().notNull(),
    /** JSON Schemas of the arguments and the result. Null accepts anything. */
    inputSchema: written<JsonObject>(),
    outputSchema: written<JsonObject>(),
    createdBy: text().notNull().default('system'),
    createdAt: moment().notNull().defaultNow(),
    publishedAt: moment(),
    /** Its publisher's note. */
    note: text(),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.toolId, t.version] }),
    foreignKey({
      columns: [t.tenantId, t.toolId],
      foreignColumns: [tools.tenantId, tools.id],
      name: 'tool_versions_tool_fk',
    }).onDelete('cascade'),
  ],
)
