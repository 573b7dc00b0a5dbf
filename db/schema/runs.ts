import { sql } from 'drizzle-orm'
import {
  bigint,
  boolean,
  foreignKey,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  text,
  timestamp,
  uniqueIndex,
} from 'drizzle-orm/pg-core'
import type { StepUsage } from '../../server/definition/agent'
import type { EventRules } from '../../server/definition/event'
import type { JsonObject, JsonValue } from '../../server/definition/json'
import type { RunPart } from '../../server/definition/part'
import type { Reminder } from '../../server/definition/reminder'
import type {
  Arrival,
  Attempt,
  Cancellation,
  DataRefs,
  Failing,
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
    /** Frozen at start, so history stays readable after the workflow is renamed or deleted. */
    workflowName: text().notNull(),
    /** The name by which people recognise the run, resolved from its input at start; null if it has none. */
    businessKey: text(),
    status: text({ enum: ['running', 'paused', 'completed', 'failed'] }).notNull(),
    /** Null while the run is open. */
    outcome: text({ enum: ['succeeded', 'failed', 'cancelled', 'terminated', 'timed_out'] }),
    input: json<RunData>().notNull(),
    /** Excludes the fields in `dataRefs`: read it with `RUN_DATA`. */
    smallData: jsonb('data').$type<RunData>().notNull(),
    /** References to the large fields; null without any. */
    dataRefs: json<DataRefs>(),
    result: json<JsonValue>(),
    error: json<RunError>(),
    /** Set when the run enters its failure path, and from then on. */
    failing: json<Failing>(),
    currentStepId: text(),
    /** The caller's verified context (signed token), read-only for the whole run. */
    context: json<JsonObject>(),
    startedBy: text().notNull(),
    /** The kind of caller that started it; `test` for a draft's test run. */
    startedVia: text({ enum: ['apiKey', 'jwt', 'user', 'test', 'system'] })
      .notNull()
      .default('apiKey'),
    cancellation: json<Cancellation>(),
    cancelRequestedAt: moment(),
    cleanupStartedAt: moment(),
    /** When its time limit ends; null without one. */
    timeoutAt: moment(),
    retryOf: text(),
    /** The fields of run data that were changed before it continued from another run. */
    edits: json<RunData>(),
    /** The part of its version that it performs; null for all of it. */
    part: json<RunPart>(),
    /** The parent run, whose step waits for this one's end. */
    parentRunId: text(),
    /** The trace of its start, as a `traceparent`; null without traces. */
    traceparent: text(),
    /** The number of its parent runs, up to the topmost. */
    depth: integer().notNull().default(0),
    startTime: moment().notNull(),
    /** When the row was written, by the database's clock alone, as with events. Null on old rows. */
    writtenAt: timestamp({ withTimezone: true, mode: 'date' }).default(sql`clock_timestamp()`),
    endTime: moment(),
    updatedAt: moment().notNull().defaultNow(),
    change: change(),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.id] }),
    // Lists read it backwards, newest first: entries added in ascending order fill their pages, while descending ones
    // leave half of each empty. It ends with the columns that lists filter by, so that the index alone finds a page,
    // however rare its rows. A run gets a second entry when its status changes, soon after its first: a quarter of each
    // page is reserved for those.
    index('runs_by_time')
      .on(t.tenantId, t.startTime, t.id, t.workflowId, t.status, t.outcome, t.startedVia)
      .with({ fillfactor: 75 }),
    // For the few runs that did not succeed.
    index('runs_by_status')
      .on(t.tenantId, t.status, t.outcome, t.startTime, t.id)
      .where(sql`outcome is null or outcome <> 'succeeded'`),
    // A workflow's unsuccessful runs by time, however few they are. A run enters only at its end.
    index('runs_failed_by_workflow').on(t.tenantId, t.workflowId, t.startTime, t.id).where(sql`status = 'failed'`),
    // For the start of a key, in upper or lower case.
    index('runs_by_key')
      .on(t.tenantId, sql`lower(${t.businessKey}) text_pattern_ops`, t.startTime.desc().nullsFirst())
      .where(sql`business_key is not null`),
    index('runs_again').on(t.tenantId, t.retryOf).where(sql`retry_of is not null`),
    // A subject's runs, page by page.
    index('runs_of_subject').on(t.tenantId, t.startedBy, t.id).where(sql`started_via in ('jwt', 'test')`),
    index('runs_of_workflow').on(t.tenantId, t.workflowId, t.workflowVersion, t.startTime),
    // For a day's figures.
    index('runs_by_end').on(t.tenantId, t.endTime).where(sql`end_time is not null`),
    index('runs_by_timeout').on(t.timeoutAt).where(sql`timeout_at is not null and end_time is null`),
    index('runs_cancelling').on(t.cancelRequestedAt).where(sql`cancel_requested_at is not null and end_time is null`),
    foreignKey({
      columns: [t.tenantId, t.workflowId, t.workflowVersion],
      foreignColumns: [workflowVersions.tenantId, workflowVersions.workflowId, workflowVersions.version],
      name: 'runs_version_fk',
    }),
  ],
)

/**
 * A cursor over the graph: the main one (`main`) and one per parallel branch or lane. A walk is divided into segments.
 * Exactly one engine run, the one that claimed it, drives a segment of an epoch.
 */
export const walks = pgTable(
  'walks',
  {
    tenantId: text().notNull(),
    runId: text().notNull(),
    branch: text().notNull(),
    epoch: integer().notNull(),
    segment: integer().notNull(),
    /**
     * `resting` while a pause waits for its answer and no engine run drives the walk, `waiting` while its branches run,
     * `queued` until its fork starts it.
     */
    status: text({ enum: ['queued', 'requested', 'walking', 'resting', 'waiting', 'ended'] }).notNull(),
    engineRunId: text(),
    /** Of a branch: its fork, and its position among the fork's branches. */
    scope: text(),
    position: integer(),
    /** A branch's writes so far, over the data of the walk that forked. Null for other walks. */
    smallData: jsonb('data').$type<RunData>(),
    dataRefs: json<DataRefs>(),
    /** How the branch ended. */
    arrival: json<Arrival>(),
    /** Where the segment starts; empty if the branch's path ends immediately. */
    stepId: text().notNull(),
    visit: integer().notNull(),
    /** Steps this walk has visited so far, across all segments. */
    visits: integer().notNull().default(0),
    /** How often the sweep had to restart this walk. */
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
    index('walks_open').on(t.updatedAt).where(sql`status in ('requested', 'walking')`),
    index('walks_of_scope').on(t.tenantId, t.runId, t.scope, t.position).where(sql`scope is not null`),
    // Finds the few failed iterations among many.
    index('walks_failed').on(t.tenantId, t.runId, t.scope, t.position).where(sql`arrival ? 'failed'`),
    // For the branches in progress, and those that ended last. The index of open walks changes with the same columns.
    index('walks_moved')
      .on(t.tenantId, t.runId, t.status, t.updatedAt)
      .where(sql`scope is not null and status <> 'queued'`),
  ],
)

/**
 * Counts the branches of one visit of a step that forks: this row alone shows which branch is the last to end, without
 * reading the others.
 */
export const scopes = pgTable(
  'scopes',
  {
    tenantId: text().notNull(),
    runId: text().notNull(),
    /** `<branch>/<stepId>#<visit>`. */
    id: text().notNull(),
    total: integer().notNull(),
    /** The position of the branch to start next. */
    next: integer().notNull(),
    succeeded: integer().notNull().default(0),
    failed: integer().notNull().default(0),
    /** How many must succeed; null if all need only end. */
    need: integer(),
    stopOnError: boolean().notNull(),
    /** `impossible` once too few branches can still succeed. */
    state: text({ enum: ['open', 'done', 'failed', 'impossible'] }).notNull(),
    /** The first failure. */
    cause: json<Extract<Arrival, { failed: object }>>(),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.runId, t.id] }),
    foreignKey({
      columns: [t.tenantId, t.runId],
      foreignColumns: [runs.tenantId, runs.id],
      name: 'scopes_run_fk',
    }).onDelete('cascade'),
  ],
)

/** One visit of one step, with its attempts. */
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
    /** Counted when the attempt is claimed, so that a step that kills its process counts too. */
    attempt: integer().notNull().default(1),
    attempts: json<Attempt[]>().notNull().default(sql`'[]'::jsonb`),
    startTime: moment().notNull(),
    endTime: moment(),
    /** The resolved configuration, frozen at the first claim so that every attempt sees the same values. */
    config: written<StepConfig>(),
    inputData: json<JsonObject>(),
    outputData: json<JsonObject>(),
    /**
     * The sizes of input and output as JSON, so that a read can skip a large value without loading it. Null on old
     * rows.
     */
    inputBytes: integer(),
    outputBytes: integer(),
    /** What this visit added to the run data. */
    delta: json<RunData>(),
    /** An agent's usage in all attempts together, with the model and the thread of the last one. */
    usage: json<StepUsage>(),
    error: text(),
    errorCode: text(),
    /** The error of a failed step whose run took its `error` exit. Null otherwise. */
    handled: boolean(),
    /** The exit taken, for a step with several. */
    exit: text(),
    /** Returned to the walk when it asks again. */
    receipt: json<Receipt>(),
    /** Of a task: the reminders about it, and its hand-over, in order. Null without any. */
    reminders: json<Reminder[]>(),
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
    // For the cost of agents. By the start: an index by the end would be written again at the end of every step.
    index('step_records_of_agents').on(t.tenantId, t.startTime).where(sql`usage is not null`),
  ],
)

/** A run waiting for a person or a point in time. The row is authoritative; an event is only a nudge. */
export const pauses = pgTable(
  'pauses',
  {
    tenantId: text().notNull(),
    /** `<branch>:<stepId>#<visit>`, unique within the run. */
    id: text().notNull(),
    runId: text().notNull(),
    branch: text().notNull(),
    stepId: text().notNull(),
    visit: integer().notNull(),
    kind: text({ enum: ['collect_inputs', 'request_user_action', 'timer', 'event', 'run'] }).notNull(),
    /** The caller sees this as `pauseSignal`. Null if no person is to answer. */
    signal: written<PauseSignal>(),
    dueAt: moment(),
    /** Of a wait for an event: its name, its key (null for any), and which matching event it takes. */
    eventName: text(),
    eventKey: text(),
    eventRules: json<EventRules>(),
    /** Whether it has examined the events that preceded it. Null for other pauses. */
    looked: boolean(),
    /** The event it took. */
    eventId: text(),
    /** Of a wait for the end of another run: its id, which is known before it starts. */
    childRunId: text(),
    /** `due` until that run has started, `done` once it need not be checked any more. */
    childState: text({ enum: ['due', 'started', 'done'] }),
    createdAt: moment().notNull().defaultNow(),
    /** Also set, without an answer, when the run is cancelled or terminated: the pause no longer waits for anyone. */
    answeredAt: moment(),
    answer: json<PauseAnswer>(),
    answeredBy: text(),
    /** The API key that named them, or the task link they used. */
    answeredVia: text(),
    /** When the walk received the answer. Until then the sweep repeats the nudge. */
    consumedAt: moment(),
    /** When webhooks were notified that it is overdue. */
    overdueAt: moment(),
    /** When people are reminded next, or the task is handed over; null if neither follows. */
    remindAt: moment(),
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
      .where(sql`answered_at is null and signal is not null`),
    // People's answers, by time.
    index('pauses_by_answer')
      .on(t.tenantId, t.answeredAt, t.runId, t.id)
      .where(sql`answer is not null and signal is not null`),
    index('pauses_due').on(t.dueAt).where(sql`due_at is not null and answered_at is null`),
    // The questions of agents: the ids end with a number of their visit.
    index('pauses_due_of_agents')
      .on(t.dueAt)
      .where(sql`due_at is not null and answered_at is null and id ~ '~[0-9.]+$'`),
    // Tasks that become overdue one day: the moment is ISO text, which sorts by time.
    index('pauses_overdue')
      .on(sql`(signal->>'dueAt')`)
      .where(sql`answered_at is null and overdue_at is null and signal->>'dueAt' is not null`),
    index('pauses_to_remind').on(t.remindAt).where(sql`remind_at is not null and answered_at is null`),
    index('pauses_for_event')
      .on(t.tenantId, t.eventName, t.eventKey, t.createdAt, t.runId, t.id)
      .where(sql`event_name is not null and answered_at is null`),
    index('pauses_unlooked').on(t.createdAt).where(sql`looked = false and answered_at is null`),
    uniqueIndex('pauses_of_child').on(t.tenantId, t.childRunId).where(sql`child_run_id is not null`),
    index('pauses_for_child').on(t.createdAt).where(sql`child_state in ('due', 'started')`),
    // A step takes an event once.
    uniqueIndex('pauses_event_once').on(t.tenantId, t.runId, t.stepId, t.eventId).where(sql`event_id is not null`),
  ],
)

/** The votes at pauses that need several to decide. Each person has one, and it never changes. */
export const pauseVotes = pgTable(
  'pause_votes',
  {
    tenantId: text().notNull(),
    runId: text().notNull(),
    pauseId: text().notNull(),
    /** The voter: a member's id, a token's `sub`, or the person an API key named; else the key's id. */
    person: text().notNull(),
    /** Their name at that time, so that history stays readable. */
    name: text().notNull(),
    actionId: text().notNull(),
    actionValue: text().notNull(),
    /** The values of the action's fields, and the remark, where the step asks for them. */
    data: json<JsonObject>(),
    remark: text(),
    /** The API key that named them, or the task link they used. */
    via: text(),
    createdAt: moment().notNull().defaultNow(),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.runId, t.pauseId, t.person] }),
    foreignKey({
      columns: [t.tenantId, t.runId, t.pauseId],
      foreignColumns: [pauses.tenantId, pauses.runId, pauses.id],
      name: 'pause_votes_pause_fk',
    }).onDelete('cascade'),
  ],
)
