import { sql } from 'drizzle-orm'
import { bigint, boolean, foreignKey, index, integer, pgTable, primaryKey, text } from 'drizzle-orm/pg-core'
import type { DeliveryAttempt, WebhookSecret } from '../../server/definition/webhook'
import { json, moment } from './columns'
import { runs } from './runs'
import { tenants } from './tenants'

/** A URL that receives messages about a tenant's runs. */
export const webhookEndpoints = pgTable(
  'webhook_endpoints',
  {
    tenantId: text()
      .notNull()
      .references(() => tenants.id, { onDelete: 'cascade' }),
    id: text().notNull(),
    url: text().notNull(),
    description: text().notNull(),
    events: text().array().notNull(),
    format: text({ enum: ['standard', 'slack'] })
      .notNull()
      .default('standard'),
    enabled: boolean().notNull().default(true),
    /** Why the product disabled it: it failed for days, or responded with 410. */
    disabledReason: text({ enum: ['failing', 'gone'] }),
    /** Newest first, each sealed for `tenantId:id`. */
    secrets: json<WebhookSecret[]>().notNull(),
    /** Since when every attempt has failed. */
    failingSince: moment(),
    deliveredAt: moment(),
    /** Until then, one function call delivers to it and no other does. */
    leasedUntil: moment(),
    createdBy: text().notNull(),
    updatedBy: text().notNull(),
    createdAt: moment().notNull().defaultNow(),
    updatedAt: moment().notNull().defaultNow(),
  },
  (t) => [primaryKey({ columns: [t.tenantId, t.id] })],
)

/**
 * Messages to endpoints. Triggers on `runs` and `pauses` write them in the statement of the change they report, so no
 * statement that changes a run can forget them.
 */
export const webhookDeliveries = pgTable(
  'webhook_deliveries',
  {
    tenantId: text().notNull(),
    /** The message's id, the same at every attempt. */
    id: text().notNull(),
    /**
     * Every change of a run holds the run's lock until it commits, so within a run this is the order of the changes.
     */
    seq: bigint({ mode: 'number' }).generatedAlwaysAsIdentity().notNull(),
    endpointId: text().notNull(),
    type: text().notNull(),
    /** Null for a test. */
    runId: text(),
    pauseId: text(),
    status: text({ enum: ['pending', 'delivered', 'failed'] })
      .notNull()
      .default('pending'),
    /** Attempts since it was last requested; `attempts` contains earlier ones too. */
    tries: integer().notNull().default(0),
    attempts: json<DeliveryAttempt[]>().notNull().default(sql`'[]'::jsonb`),
    dueAt: moment().notNull().defaultNow(),
    /** The body, byte for byte, from the first attempt on. */
    body: text(),
    createdAt: moment().notNull().defaultNow(),
    endedAt: moment(),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.id] }),
    foreignKey({
      columns: [t.tenantId, t.endpointId],
      foreignColumns: [webhookEndpoints.tenantId, webhookEndpoints.id],
      name: 'webhook_deliveries_endpoint_fk',
    }).onDelete('cascade'),
    foreignKey({
      columns: [t.tenantId, t.runId],
      foreignColumns: [runs.tenantId, runs.id],
      name: 'webhook_deliveries_run_fk',
    }).onDelete('cascade'),
    index('webhook_deliveries_list').on(t.tenantId, t.endpointId, t.seq.desc()),
    index('webhook_deliveries_run').on(t.tenantId, t.runId).where(sql`run_id is not null`),
    index('webhook_deliveries_pending').on(t.tenantId, t.endpointId, t.runId, t.seq).where(sql`status = 'pending'`),
    index('webhook_deliveries_due').on(t.dueAt).where(sql`status = 'pending'`),
    index('webhook_deliveries_ended').on(t.endedAt).where(sql`ended_at is not null`),
  ],
)
