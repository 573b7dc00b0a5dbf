import { bigint, index, pgTable, primaryKey, text } from 'drizzle-orm/pg-core'
import type { AuditAction, AuditActor, AuditDetails, AuditThing } from '../../server/definition/audit'
import { json, moment } from './columns'

/** Who changed what. Written in the transaction of the change, never updated, and deleted when it is old enough. */
export const auditEntries = pgTable(
  'audit_entries',
  {
    tenantId: text().notNull(),
    id: text().notNull(),
    /** The order of entries of the same time. */
    seq: bigint({ mode: 'number' }).generatedAlwaysAsIdentity().notNull(),
    /** By the clock of the database, when its transaction began. */
    at: moment().notNull().defaultNow(),
    actorKind: text().$type<AuditActor>().notNull(),
    actorId: text().notNull(),
    /** As it was then. */
    actorName: text().notNull(),
    action: text().$type<AuditAction>().notNull(),
    thingKind: text().$type<AuditThing>().notNull(),
    thingId: text().notNull(),
    /** As it was then. */
    thingName: text().notNull(),
    details: json<AuditDetails>().notNull(),
    /** Empty for what the product or its command line does. */
    requestId: text().notNull(),
    /** Where the request came from; for IPv6 the network. Null where that is not known. */
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
