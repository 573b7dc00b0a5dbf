import { bigint, index, pgTable, primaryKey, text } from 'drizzle-orm/pg-core'
import type { AuditAction, AuditActor, AuditDetails, AuditThing } from '../../server/definition/audit'
import { json, moment } from './columns'

/**
 * Who changed what. Written in the transaction of the change, never updated, and deleted at the end of its retention.
 */
export const auditEntries = pgTable(
  'audit_entries',
  {
    tenantId: text().notNull(),
    id: text().notNull(),
    /** Orders entries of the same time. */
    seq: bigint({ mode: 'number' }).generatedAlwaysAsIdentity().notNull(),
    /** When its transaction began, by the database's clock. */
    at: moment().notNull().defaultNow(),
    actorKind: text().$type<AuditActor>().notNull(),
    actorId: text().notNull(),
    /** At the time of the change. */
    actorName: text().notNull(),
    action: text().$type<AuditAction>().notNull(),
    thingKind: text().$type<AuditThing>().notNull(),
    thingId: text().notNull(),
    /** At the time of the change. */
    thingName: text().notNull(),
    details: json<AuditDetails>().notNull(),
    /** Empty for changes by the product or its command line. */
    requestId: text().notNull(),
    /** The request's origin; for IPv6 the network. Null if unknown. */
    address: text(),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.id] }),
    index('audit_entries_list').on(t.tenantId, t.at, t.seq),
    index('audit_entries_thing').on(t.tenantId, t.thingId, t.at, t.seq),
    index('audit_entries_action').on(t.tenantId, t.action, t.at, t.seq),
    index('audit_entries_actor').on(t.tenantId, t.actorId, t.at, t.seq),
  ],
)
