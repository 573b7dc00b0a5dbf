import { sql } from 'drizzle-orm'
import { bigint, foreignKey, index, integer, pgTable, primaryKey, text } from 'drizzle-orm/pg-core'
import type { StepUsage } from '../../server/definition/agent'
import type { JsonObject, JsonValue } from '../../server/definition/json'
import type {
  Attempt,
  Cancellation,
  PauseAnswer,
  PauseSignal,
  Receipt,
  RunData,
  RunError,
} from '../../server/definition/run'
import type { StepConfig } from '../../server/definition/step-config'
import { change, json, moment, written } from './columns'
import { tenants } from './tenants'
import { workflowVersions } from './workflows'

export const runs = pgTable(
  'runs',
  {
    tenantId: text()
      .notNull()
      .references(() => tenants.id, { onDelete: 'cascade' }),
    id: text().notNull(),
    workflowId: text().notNull(),
    workflowVersion: integer().notNull(),
    /** Frozen at start, so history reads well after the workflow is renamed or deleted. */
    workflowName: text().notNull(),
    status: text({ enum: ['running', 'paused', 'completed', 'failed'] }).notNull(),
    /** Null while open. */
    outcome: text({ enum: ['succeeded', 'failed', 'cancelled', 'terminated', 'timed_out'] }),
    input: json<RunData>().notNull(),
    data: json<RunData>().notNull(),
    result: json<JsonValue>(),
    error: json<RunError>(),
    currentStepId: text(),
    /** The caller's verified context (signed token), read-only for the run's whole life. */
    context: json<JsonObject>(),
    startedBy: text().notNull(),
    /** What kind of caller that was; `test` when a person tried out a draft. */
    startedVia: text({ enum: ['apiKey', 'jwt', 'user', 'test', 'system'] })
      .notNull()
      .default('apiKey'),
    cancellation: json<Cancellation>(),
    cancelRequestedAt: moment(),
    cleanupStartedAt: moment(),
    retryOf: text(),
    startTime: moment().notNull(),
    endTime: moment(),
    updatedAt: moment().notNull().defaultNow(),
    change: change(),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.id] }),
    // Ends with what lists filter by: a page is found in the index alone, however rare its rows are.
    index('runs_by_start').on(
      t.tenantId,
      t.startTime.desc().nullsFirst(),
      t.id.desc().nullsFirst(),
      t.workflowId,
      t.status,
      t.outcome,
      t.startedVia,
    ),
    // For the few among the many that went well.
    index('runs_by_state')
      .on(t.tenantId, t.status, t.outcome, t.startTime.desc().nullsFirst(), t.id.desc().nullsFirst())
      .where(sql`outcome is null or outcome <> 'succeeded'`),
    index('runs_again').on(t.tenantId, t.retryOf).where(sql`retry_of is not null`),
    index('runs_by_workflow').on(t.tenantId, t.workflowId, t.workflowVersion, t.startTime.desc()),
    index('runs_open').on(t.updatedAt).where(sql`status in ('running', 'paused')`),
    index('runs_cancelling').on(t.cancelRequestedAt).where(sql`cancel_requested_at is not null and end_time is null`),
    foreignKey({
      columns: [t.tenantId, t.workflowId, t.workflowVersion],
      foreignColumns: [workflowVersions.tenantId, workflowVersions.workflowId, workflowVersions.version],
      name: 'runs_version_fk',
    }),
  ],
)

/**
 * A cursor over the graph: the main one (`main`) and one per parallel branch or lane. A walk is cut
 * into segments; a segment of an epoch is driven by exactly one engine run, the one that claimed it.
 */
export const walks = pgTable(
  'walks',
  {
    tenantId: text().notNull(),
    runId: text().notNull(),
    branch: text().notNull(),
    epoch: integer().notNull(),
    segment: integer().notNull(),
    status: text({ enum: ['requested', 'walking', 'ended'] }).notNull(),
    engineRunId: text(),
    /** Where the segment begins. */
    stepId: text().notNull(),
    visit: integer().notNull(),
    /** Steps visited by this walk so far, all segments together. */
    visits: integer().notNull().default(0),
    /** How often the sweep had to start this walk again. */
    restarts: integer().notNull().default(0),
    updatedAt: moment().notNull().defaultNow(),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.runId, t.branch] }),
    foreignKey({
      columns: [t.tenantId, t.runId],
      foreignColumns: [runs.tenantId, runs.id],
      name: 'walks_run_fk',
    }).onDelete('cascade'),
    index('walks_open').on(t.updatedAt).where(sql`status <> 'ended'`),
  ],
)

/** One visit of one step, its attempts inside. */
export const stepRecords = pgTable(
  'step_records',
  {
    tenantId: text().notNull(),
    runId: text().notNull(),
    branch: text().notNull(),
    stepId: text().notNull(),
    visit: integer().notNull(),
    seq: bigint({ mode: 'number' }).generatedAlwaysAsIdentity().notNull(),
    stepType: text().notNull(),
    stepName: text().notNull(),
    status: text({ enum: ['running', 'completed', 'failed'] }).notNull(),
    /** Counted when the attempt is claimed, so a step that kills its process is counted too. */
    attempt: integer().notNull().default(1),
    attempts: json<Attempt[]>().notNull().default(sql`'[]'::jsonb`),
    startTime: moment().notNull(),
    endTime: moment(),
    /** The resolved configuration, frozen at the first claim: every attempt sees the same. */
    config: written<StepConfig>(),
    inputData: json<JsonObject>(),
    outputData: json<JsonObject>(),
    /** Sizes of the two as JSON, so that reads know what is too large for them without reading it; null on old rows. */
    inputBytes: integer(),
    outputBytes: integer(),
    /** What this visit added to the run's data. */
    delta: json<RunData>(),
    /** What an agent's answer took: tokens, model and thread. */
    usage: json<StepUsage>(),
    error: text(),
    errorCode: text(),
    /** What the walk is told when it asks again. */
    receipt: json<Receipt>(),
    change: change(),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.runId, t.branch, t.stepId, t.visit] }),
    foreignKey({
      columns: [t.tenantId, t.runId],
      foreignColumns: [runs.tenantId, runs.id],
      name: 'step_records_run_fk',
    }).onDelete('cascade'),
    index('step_records_history').on(t.tenantId, t.runId, t.seq),
  ],
)

/** A run that waits: for a person, or for a moment. The row is the truth, an event only a nudge. */
export const pauses = pgTable(
  'pauses',
  {
    tenantId: text().notNull(),
    /** `<branch>:<stepId>#<visit>`; with the run it is unique for ever. */
    id: text().notNull(),
    runId: text().notNull(),
    branch: text().notNull(),
    stepId: text().notNull(),
    visit: integer().notNull(),
    kind: text({ enum: ['collect_inputs', 'request_user_action', 'timer'] }).notNull(),
    /** What the caller sees as `pauseSignal`; null for timers. */
    signal: written<PauseSignal>(),
    dueAt: moment(),
    createdAt: moment().notNull().defaultNow(),
    /** Also set, with no answer, when the run was cancelled or terminated: nobody is asked any more. */
    answeredAt: moment(),
    answer: json<PauseAnswer>(),
    answeredBy: text(),
    /** When the walk took the answer; until then the sweep nudges again. */
    consumedAt: moment(),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.runId, t.id] }),
    foreignKey({
      columns: [t.tenantId, t.runId],
      foreignColumns: [runs.tenantId, runs.id],
      name: 'pauses_run_fk',
    }).onDelete('cascade'),
    index('pauses_unconsumed').on(t.answeredAt).where(sql`answered_at is not null and consumed_at is null`),
    index('pauses_waiting')
      .on(t.tenantId, t.createdAt, t.runId, t.id)
      .where(sql`answered_at is null and kind <> 'timer'`),
    index('pauses_due').on(t.dueAt).where(sql`due_at is not null and answered_at is null`),
  ],
)
