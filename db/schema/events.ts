import { sql } from 'drizzle-orm'
import { bigint, index, pgTable, primaryKey, text, timestamp } from 'drizzle-orm/pg-core'
import type { JsonObject } from '../../server/definition/json'
import { json, moment } from './columns'
import { tenants } from './tenants'

/** Events that other systems posted for runs that wait for them, now or later. */
export const events = pgTable(
  'events',
  {
    tenantId: text()
      .notNull()
      .references(() => tenants.id, { onDelete: 'cascade' }),
    /** The sender's id, or a generated one. */
    id: text().notNull(),
    seq: bigint({ mode: 'number' }).generatedAlwaysAsIdentity().notNull(),
    name: text().notNull(),
    key: text(),
    data: json<JsonObject>().notNull(),
    postedBy: text().notNull(),
    receivedAt: timestamp({ withTimezone: true, mode: 'date' }).notNull().default(sql`clock_timestamp()`),
    /** When its delivery was last requested. */
    offeredAt: moment().notNull().defaultNow(),
    /** When every run that waited for it had examined it. */
    deliveredAt: moment(),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.id] }),
    index('events_by_name').on(t.tenantId, t.name, t.seq),
    index('events_by_key').on(t.tenantId, t.name, t.key, t.seq).where(sql`key is not null`),
    index('events_undelivered').on(t.offeredAt).where(sql`delivered_at is null`),
    index('events_by_age').on(t.receivedAt),
  ],
)
