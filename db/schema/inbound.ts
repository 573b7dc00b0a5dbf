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
    /** The last part of its address. Anyone who knows it may send; only members who may change it see it. */
    token: text().notNull(),
    name: text().notNull(),
    scheme: text({ enum: ['github', 'stripe', 'slack', 'standard', 'hmac', 'none'] }).notNull(),
    /** For the scheme `hmac`. */
    signatureHeader: text(),
    encoding: text({ enum: ['hex', 'base64'] }),
    /** The header that identifies a delivery, if the scheme defines none. */
    idHeader: text(),
    /** Newest first, each sealed for `tenantId:id`. Empty until the sender's own secret is entered. */
    secrets: json<InboundSecret[]>().notNull(),
    /** Expressions by START field. */
    mapping: json<Record<string, string>>().notNull(),
    /** The expression that decides whether a delivery starts a run. */
    when: text(),
    enabled: boolean().notNull().default(true),
    /** The last request with an invalid signature. Only the last, so that nobody can fill the database. */
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
 * A delivery to an inbound webhook, and its result. Written in one transaction with the run that it starts, so its key
 * lets a delivery start at most one run, no matter how often and to how many processes it is sent.
 */
export const inboundDeliveries = pgTable(
  'inbound_deliveries',
  {
    tenantId: text().notNull(),
    id: text().notNull(),
    seq: bigint({ mode: 'number' }).generatedAlwaysAsIdentity().notNull(),
    webhookId: text().notNull(),
    /** Hash of the part that every repetition shares. Null once the delivery may be sent again, and for a replay. */
    key: text(),
    status: text({ enum: ['started', 'filtered', 'invalid', 'refused'] }).notNull(),
    runId: text(),
    /** Why it started no run. */
    error: text(),
    contentType: text().notNull(),
    /** Without headers that may hold secrets. */
    headers: json<Record<string, string>>().notNull(),
    query: json<Sent['query']>().notNull(),
    /** As it was sent. Null once the run it started has been deleted. */
    body: text(),
    replayOf: text(),
    /** The member who replayed it. */
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
