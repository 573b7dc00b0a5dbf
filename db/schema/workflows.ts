import { foreignKey, index, integer, pgTable, primaryKey, text } from 'drizzle-orm/pg-core'
import type { Layout } from '../../server/definition/layout'
import type { Definition } from '../../server/definition/schema'
import { json, moment, resource, written } from './columns'
import { tenants } from './tenants'

/** The draft as last saved, and which version of it is published. */
export const workflows = pgTable(
  'workflows',
  {
    tenantId: text()
      .notNull()
      .references(() => tenants.id, { onDelete: 'cascade' }),
    id: text().notNull(),
    ...resource(),
    /** Where the editor's nodes stand, by step id. No part of a version: moving a box changes no workflow. */
    layout: json<Layout>().notNull().default({}),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.id] }),
    index('workflows_updated').on(t.tenantId, t.updatedAt.desc(), t.id),
  ],
)

/**
 * What a version says, immutable. No foreign key to `workflows`: runs keep the definition they
 * started on also when the workflow is deleted for ever.
 */
export const workflowVersions = pgTable(
  'workflow_versions',
  {
    tenantId: text().notNull(),
    workflowId: text().notNull(),
    version: integer().notNull(),
    name: text().notNull(),
    definition: written<Definition>().notNull(),
    createdBy: text().notNull(),
    createdAt: moment().notNull().defaultNow(),
    /** When the first of the autosaves folded into this version was made; null when it is a single save. */
    burstSince: moment(),
    publishedAt: moment(),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.workflowId, t.version] }),
    foreignKey({ columns: [t.tenantId], foreignColumns: [tenants.id], name: 'workflow_versions_tenant_fk' }).onDelete(
      'cascade',
    ),
  ],
)
