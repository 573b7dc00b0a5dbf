import { sql } from 'drizzle-orm'
import {
  bigint,
  boolean,
  check,
  index,
  integer,
  pgSchema,
  primaryKey,
  text,
  timestamp,
  uniqueIndex,
} from 'drizzle-orm/pg-core'

/**
 * The embedded executor's tables, which `inngest/engine` reads and writes in plain SQL. JSON is stored as `text`,
 * exactly as the SDK sent it: it is never queried, and `jsonb` would reject a NUL character. There are deliberately no
 * foreign keys: their checks would take the run's lock after the job's, against the lock order.
 */
export const engine = pgSchema('engine')

const instant = () => timestamp({ withTimezone: true })

/** Each claim of a job draws one number: a fencing token that is never reused. */
export const generation = engine.sequence('generation')

/** Ids already seen: of events (scope ''), idempotency keys and cron ticks (scope = function), and lifecycle events. */
export const events = engine.table(
  'events',
  {
    scope: text().notNull(),
    id: text().notNull(),
    receivedAt: instant().notNull(),
  },
  (t) => [primaryKey({ columns: [t.scope, t.id] }), index('events_received_at_idx').on(t.receivedAt)],
)

export const runs = engine.table(
  'runs',
  {
    id: text().primaryKey(),
    functionId: text().notNull(),
    event: text().notNull(),
    status: text().notNull().default('running'),
    output: text(),
    /**
     * Reported steps that have no result yet: waits, sleeps and planned steps. At zero, the function is called again.
     */
    pending: integer().notNull().default(0),
    /** Parallel steps that race: the function is called after each result, not only after the last. */
    race: boolean().notNull().default(false),
    lane: text(),
    parentRunId: text(),
    parentStepId: text(),
    createdAt: instant().notNull(),
    /** Set only for functions whose time-outs count from the start. */
    startedAt: instant(),
    endedAt: instant(),
  },
  (t) => [
    check('runs_status_check', sql`${t.status} in ('running', 'completed', 'failed', 'cancelled')`),
    index('runs_ended_at_idx').on(t.endedAt).where(sql`${t.endedAt} is not null`),
  ],
)

export const steps = engine.table(
  'steps',
  {
    runId: text().notNull(),
    id: text().notNull(),
    position: bigint({ mode: 'number' }).notNull().generatedAlwaysAsIdentity(),
    value: text().notNull(),
  },
  (t) => [primaryKey({ columns: [t.runId, t.id] })],
)

/** Pending work. While a job is being executed, `owner` is set and `due_at` is the end of the lease. */
export const jobs = engine.table(
  'jobs',
  {
    id: text().primaryKey(),
    runId: text(),
    functionId: text().notNull(),
    kind: text().notNull(),
    stepId: text(),
    dueAt: instant().notNull(),
    attempt: integer().notNull().default(0),
    generation: bigint({ mode: 'number' }).notNull().default(0),
    /**
     * How often the job's process died since the job last made progress. Too many deaths suggest that the job causes
     * them.
     */
    deliveries: integer().notNull().default(0),
    owner: text(),
    lane: text(),
    /** The event of a queued run that has no row in `engine.runs` yet. The row is written when needed. */
    event: text(),
  },
  (t) => [
    check('jobs_kind_check', sql`${t.kind} in ('run', 'step', 'sleep', 'end', 'cron')`),
    index('jobs_due_at_idx').on(t.dueAt),
    index('jobs_run_id_idx').on(t.runId),
    // Indexes for the turns of lanes, the jobs in progress per lane, and jobs without a lane.
    index('jobs_lane_due_idx').on(t.functionId, t.lane, t.dueAt).where(sql`${t.lane} is not null`),
    index('jobs_lane_owner_idx').on(t.functionId, t.lane).where(sql`${t.lane} is not null and ${t.owner} is not null`),
    index('jobs_free_idx').on(t.dueAt).where(sql`${t.lane} is null`),
    index('jobs_suspect_idx').on(t.dueAt).where(sql`${t.deliveries} > 0`),
  ],
)

/** The waits of runs. `token` is the one equality that has an index; `condition` is the rest of the `if`. */
export const waits = engine.table(
  'waits',
  {
    runId: text().notNull(),
    stepId: text().notNull(),
    kind: text().notNull(),
    key: text().notNull(),
    token: text().notNull().default(''),
    condition: text(),
    expiresAt: instant(),
  },
  (t) => [
    primaryKey({ columns: [t.runId, t.stepId] }),
    check(
      'waits_kind_check',
      sql`${t.kind} in ('event', 'signal', 'replaced', 'invoke', 'cancel', 'cancelled', 'start', 'finish')`,
    ),
    index('waits_key_token_idx').on(t.key, t.token),
    uniqueIndex('waits_signal_idx').on(t.key).where(sql`${t.kind} = 'signal'`),
    index('waits_expires_at_idx').on(t.expiresAt).where(sql`${t.expiresAt} is not null`),
  ],
)

/** The processes that execute jobs, with the last heartbeat of each. */
export const workers = engine.table('workers', {
  bootId: text().primaryKey(),
  hostId: text().notNull(),
  pid: integer().notNull(),
  startedAt: instant().notNull(),
  lastSeen: instant().notNull(),
  /** The kinds of work the process can continue: see RELEASE in `inngest/engine/settings.ts`. */
  release: integer().notNull().default(0),
})
