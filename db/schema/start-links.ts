import { sql } from 'drizzle-orm'
import { foreignKey, index, integer, pgTable, primaryKey, text } from 'drizzle-orm/pg-core'
import { moment } from './columns'
import { workflows } from './workflows'

/** Links with which people without an account start one workflow. The link itself is signed, not stored. */
export const startLinks = pgTable(
  'start_links',
  {
    tenantId: text().notNull(),
    id: text().notNull(),
    workflowId: text().notNull(),
    /** The maker's own note, such as where the link is published. Holders of the link do not see it. */
    label: text(),
    /** The link's maker, whose right to start the workflow it passes on. */
    makerKind: text({ enum: ['user', 'apiKey', 'jwt'] }).notNull(),
    makerId: text().notNull(),
    /** If the maker used a token: the secret that signed it. */
    secretId: text(),
    createdAt: moment().notNull().defaultNow(),
    expiresAt: moment().notNull(),
    revokedAt: moment(),
    /** How many of its forms were deleted after it had ended. Each had started a run. */
    deletedForms: integer().notNull().default(0),
    /** Since when it has no forms left. */
    formsDeletedAt: moment(),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.id] }),
    foreignKey({
      columns: [t.tenantId, t.workflowId],
      foreignColumns: [workflows.tenantId, workflows.id],
      name: 'start_links_workflow_fk',
    }).onDelete('cascade'),
    index('start_links_of_workflow').on(t.tenantId, t.workflowId),
    index('start_links_by_end').on(sql`least(${t.expiresAt}, ${t.revokedAt})`).where(sql`forms_deleted_at is null`),
  ],
)

/**
 * A form sent by a start link. Written in one transaction with the run that it starts, so its key lets each start at
 * most one, however often it arrives. Deleted a day after the link has ended.
 */
export const startLinkForms = pgTable(
  'start_link_forms',
  {
    tenantId: text().notNull(),
    linkId: text().notNull(),
    /** Chosen by the page for each form that it shows. */
    formId: text().notNull(),
    runId: text().notNull(),
    createdAt: moment().notNull().defaultNow(),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.linkId, t.formId] }),
    foreignKey({
      columns: [t.tenantId, t.linkId],
      foreignColumns: [startLinks.tenantId, startLinks.id],
      name: 'start_link_forms_link_fk',
    }).onDelete('cascade'),
  ],
)
