import { sql } from 'drizzle-orm'
import { boolean, foreignKey, index, pgTable, primaryKey, text } from 'drizzle-orm/pg-core'
import type { JsonObject } from '../../server/definition/json'
import { json, moment } from './columns'
import { workflows } from './workflows'

/** When a workflow starts automatically. */
export const schedules = pgTable(
  'schedules',
  {
    tenantId: text().notNull(),
    id: text().notNull(),
    workflowId: text().notNull(),
    name: text().notNull(),
    cron: text().notNull(),
    timeZone: text().notNull(),
    /** How times that passed while no process was running are handled: skipped, or one run for all of them. */
    catchUp: text({ enum: ['skip', 'once'] }).notNull(),
    /** The START fields. */
    data: json<JsonObject>().notNull(),
    enabled: boolean().notNull().default(true),
    /** Null while it is paused. */
    nextAt: moment(),
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
      name: 'schedules_workflow_fk',
    }).onDelete('cascade'),
    index('schedules_by_workflow').on(t.tenantId, t.workflowId),
    index('schedules_due').on(t.nextAt).where(sql`next_at is not null`),
  ],
)

/**
 * A time at which a schedule was due, and its result. Written in one transaction with the run that it starts, so its
 * key lets each time start at most one run, however many processes see that it is due.
 */
export const scheduleTicks = pgTable(
  'schedule_ticks',
  {
    tenantId: text().notNull(),
    scheduleId: text().notNull(),
    at: moment().notNull(),
    status: text({ enum: ['started', 'skipped', 'failed'] }).notNull(),
    runId: text(),
    /** Why it started no run. */
    error: text(),
    createdAt: moment().notNull().defaultNow(),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.scheduleId, t.at] }),
    foreignKey({
      columns: [t.tenantId, t.scheduleId],
      foreignColumns: [schedules.tenantId, schedules.id],
      name: 'schedule_ticks_schedule_fk',
    }).onDelete('cascade'),
    index('schedule_ticks_at').on(t.at),
  ],
)
