import { foreignKey, index, integer, pgTable, primaryKey, text } from 'drizzle-orm/pg-core'
import type { Layout } from '../../server/definition/layout'
import type { Pins } from '../../server/definition/pins'
import type { Definition } from '../../server/definition/schema'
import { json, moment, resource, written } from './columns'
import { tenants } from './tenants'

/** The draft as last saved, and its published version. */
export const workflows = pgTable(
  'workflows',
  {
    tenantId: text()
      .notNull()
      .references(() => tenants.id, { onDelete: 'cascade' }),
    id: text().notNull(),
    ...resource(),
    /** Positions of the editor's nodes by step id. Not part of a version: moving a box does not change the workflow. */
    layout: json<Layout>().notNull().default({}),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.id] }),
    index('workflows_updated').on(t.tenantId, t.updatedAt.desc(), t.id),
  ],
)

/**
 * The immutable content of a version. No foreign key to `workflows`: runs keep the definition they started with even
 * after the workflow is permanently deleted.
 */
export const workflowVersions = pgTable(
  'workflow_versions',
  {
    tenantId: text().notNull(),
    workflowId: text().notNull(),
    version: integer().notNull(),
    name: text().notNull(),
    definition: written<Definition>().notNull(),
    /** How to read the definition. Null for versions saved before edges had `on`. */
    language: integer(),
    createdBy: text().notNull(),
    createdAt: moment().notNull().defaultNow(),
    /** When the first of the autosaves folded into this version was made. Null for a single save. */
    burstSince: moment(),
    publishedAt: moment(),
    /**
     * The number that people see: the workflow's first published version is 1. Null until then. A trigger sets it with
     * `publishedAt`, so that no publisher can forget it, and it never changes.
     */
    number: integer(),
    /** Its publisher's note. */
    note: text(),
    /**
     * The versions of the tools, agents and workflows its steps used when it was published. Null where nothing was
     * pinned.
     */
    pins: json<Pins>(),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.workflowId, t.version] }),
    foreignKey({ columns: [t.tenantId], foreignColumns: [tenants.id], name: 'workflow_versions_tenant_fk' }).onDelete(
      'cascade',
    ),
  ],
)
