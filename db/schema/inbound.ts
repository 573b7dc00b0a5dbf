import { sql } from 'drizzle-orm'
import { bigint, boolean, foreignKey, index, pgTable, primaryKey, text, uniqueIndex } from 'drizzle-orm/pg-core'
import type { InboundSecret, Sent } from '../../server/definition/inbound'
import { json, moment } from './columns'
import { workflows } from './workflows'

/** An address at which another system starts a workflow. */
export const inboundWebhooks = pgTable(
  'inbound_webhooks',
  {
    tenantId: text().notNull(),
    id: text().notNull(),
    workflowId: text().notNull(),
    /** The last part of its address. Whoever knows it may send; it is shown only to those who may change it. */
    token: text().notNull(),
    name: text().notNull(),
    scheme: text({ enum: ['github', 'stripe', 'slack', 'standard', 'hmac', 'none'] }).notNull(),
    /** Of the scheme `hmac`. */
    signatureHeader: text(),
    encoding: text({ enum: ['hex', 'base64'] }),
    /** The header that names a delivery, where the scheme knows none. */
    idHeader: text(),
    /** Newest first, each sealed for `tenantId:id`. None until the sender has told its own. */
    secrets: json<InboundSecret[]>().notNull(),
    /** An expression by START field. */
    mapping: json<Record<string, string>>().notNull(),
    /** The expression that decides whether a delivery starts a run. */
    when: text(),
    enabled: boolean().notNull().default(true),
    /** The last request whose signature was not right. Only the last, so that nobody can fill the database. */
    refusedAt: moment(),
    refusal: text(),
    createdBy: text().notNull(),
    updatedBy: text().notNull(),
    createdAt: moment().notNull().defaultNow(),
    updatedAt: moment().notNull().defaultNow(),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.id] }),
    foreignKey({
      columns: [t.tenantId, t.workflowId],
      foreignColumns: [workflows.tenantId, workflows.id],
      name: 'inbound_webhooks_workflow_fk',
    }).onDelete('cascade'),
    uniqueIndex('inbound_webhooks_token').on(t.token),
    index('inbound_webhooks_by_workflow').on(t.tenantId, t.workflowId),
  ],
)

/**
 * What an inbound webhook was sent, and what became of it. It is written with the run that it starts, in one transaction,
 * so its key lets a delivery start one run, however often it is sent and to however many processes.
 */
export const inboundDeliveries = pgTable(
  'inbound_deliveries',
  {
    tenantId: text().notNull(),
    id: text().notNull(),
    seq: bigint({ mode: 'number' }).generatedAlwaysAsIdentity().notNull(),
    webhookId: text().notNull(),
    /** What is the same however often it is sent, hashed. Null once it may be sent again, and for a replay. */
    key: text(),
    status: text({ enum: ['started', 'filtered', 'invalid', 'refused'] }).notNull(),
    runId: text(),
    /** Why no run was started. */
    error: text(),
    contentType: text().notNull(),
    /** Without those that may hold secrets. */
    headers: json<Record<string, string>>().notNull(),
    query: json<Sent['query']>().notNull(),
    /** As it was sent. Null once the run that it started is no longer kept. */
    body: text(),
    replayOf: text(),
    /** Who replayed it. */
    createdBy: text(),
    createdAt: moment().notNull().defaultNow(),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.id] }),
    foreignKey({
      columns: [t.tenantId, t.webhookId],
      foreignColumns: [inboundWebhooks.tenantId, inboundWebhooks.id],
      name: 'inbound_deliveries_webhook_fk',
    }).onDelete('cascade'),
    uniqueIndex('inbound_deliveries_key').on(t.tenantId, t.webhookId, t.key).where(sql`key is not null`),
    index('inbound_deliveries_list').on(t.tenantId, t.webhookId, t.seq.desc()),
    index('inbound_deliveries_run').on(t.tenantId, t.runId).where(sql`run_id is not null`),
    index('inbound_deliveries_created').on(t.createdAt),
  ],
)
