import { sql } from 'drizzle-orm'
import { bigint, date, doublePrecision, integer, pgTable, primaryKey, smallint, text } from 'drizzle-orm/pg-core'
import { moment } from './columns'
import { tenants } from './tenants'

const tenantId = () =>
  text()
    .notNull()
    .references(() => tenants.id, { onDelete: 'cascade' })

/**
 * Days (UTC) that have been counted. A run that has ended never changes, so the counts of a past day are final, and
 * insights read them instead of the runs.
 */
export const countedDays = pgTable(
  'counted_days',
  {
    tenantId: tenantId(),
    day: date({ mode: 'string' }).notNull(),
    countedAt: moment().notNull().default(sql`now()`),
    /** The parts counted: 1 for runs and people's answers, 2 for agents' answers too. */
    parts: smallint().notNull().default(1),
  },
  (t) => [primaryKey({ columns: [t.tenantId, t.day] })],
)

/** Days that an earlier version counted in fewer parts are counted again. */
export const PARTS = 2

/** How many runs ended on a day, by workflow, outcome and duration. Excludes test runs. */
export const runDays = pgTable(
  'run_days',
  {
    tenantId: tenantId(),
    day: date({ mode: 'string' }).notNull(),
    workflowId: text().notNull(),
    outcome: text().notNull(),
    /** The duration: see `server/views/insights/buckets.ts`. */
    bucket: smallint().notNull(),
    runs: integer().notNull(),
    /** The longest of them, in ms; null where a version before this column counted. */
    longest: doublePrecision(),
  },
  (t) => [primaryKey({ columns: [t.tenantId, t.day, t.workflowId, t.outcome, t.bucket] })],
)

/** How many tasks people answered on a day, by step and the time the task had waited. */
export const waitDays = pgTable(
  'wait_days',
  {
    tenantId: tenantId(),
    day: date({ mode: 'string' }).notNull(),
    workflowId: text().notNull(),
    stepId: text().notNull(),
    bucket: smallint().notNull(),
    answers: integer().notNull(),
    /** The longest wait of them, in ms; null where a version before this column counted. */
    longest: doublePrecision(),
  },
  (t) => [primaryKey({ columns: [t.tenantId, t.day, t.workflowId, t.stepId, t.bucket] })],
)

/** Agents' answers in a workflow's runs on a day, and their usage. */
export const agentDays = pgTable(
  'agent_days',
  {
    tenantId: tenantId(),
    day: date({ mode: 'string' }).notNull(),
    workflowId: text().notNull(),
    agentId: text().notNull(),
    answers: integer().notNull(),
    inputTokens: bigint({ mode: 'number' }).notNull(),
    outputTokens: bigint({ mode: 'number' }).notNull(),
    /** Answers of models that have prices, and their cost. */
    priced: integer().notNull(),
    cost: doublePrecision().notNull(),
  },
  (t) => [primaryKey({ columns: [t.tenantId, t.day, t.workflowId, t.agentId] })],
)
