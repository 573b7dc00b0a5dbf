import type { PendingQuery, Row, Sql } from 'postgres'
import type { Backlog } from './backlog'
import type { FunctionSpec } from './registry'
import type { EngineLog } from './types'

/** A part of a statement. Never await one: that would run it. */
export type Fragment = PendingQuery<Row[]>

/** A job that this process has claimed, with everything a call needs. Strings hold JSON. */
export interface Claim {
  jobId: string
  /** The fencing token, repeated by every write for this claim. */
  generation: string
  runId: string
  functionId: string
  kind: 'run' | 'step' | 'sleep' | 'end' | 'cron'
  stepId: string | null
  attempt: number
  /** How often the job's process died since the job last made progress. */
  deliveries: number
  /**
   * The unit of the limit: one lane per value of the function's concurrency key. Null for a function without a limit.
   */
  lane: string | null
  event: string
  memo: Map<string, string>
  pending: number
  race: boolean
  started: boolean
  running: boolean
  /** The run has no row yet, only its job, which holds its event. */
  withoutRow: boolean
}

/** The worker's part that statements use. */
export interface Scheduler {
  /** Whether a process of an older release is running. */
  readonly older: boolean
  /** Reserves up to `wanted` free slots for claims about to be inserted. @returns how many */
  reserve(wanted: number): number
  release(slots: number): void
  /** Reserves a slot for one claim of a lane, unless others wait or the lane has reached its share or its limit. */
  reserveFor(lane: string | null, limit: number): boolean
  /** Releases the reservations of `reserveFor`. */
  releaseFrom(lane: string | null): void
  /** A failed statement may have claimed jobs for this process nevertheless. */
  recheckQueue(): void
  /** Starts a claim in the slot that `reserveFor` reserved. */
  start(claim: Claim): void
  /** Starts claims in reserved slots. */
  take(claims: Claim[]): void
  /** Unclaimed work is due now. */
  wake(): void
  /** Work will be due in `ms` milliseconds. */
  dueIn(ms: number): void
  /** A run has ended and has nothing left to write: its job may be removed. */
  finished(claim: Claim): void
  /** The run has ended, so its calls need not continue. */
  ended(runId: string): void
}

export interface EngineContext {
  sql: Sql
  /**
   * For statements that find a few rows by key. Postgres often plans them while the queue is empty, so it would scan
   * the whole table, even when that later contains hundreds of thousands of removed jobs.
   */
  byKey: Sql
  log: EngineLog
  bootId: string
  hostId: string
  leaseMs: number
  /** The longest time between checks for work without a notification. */
  longestPauseMs: number
  retryDelayMs: (attempt: number) => number
  now: () => Date
  /** The current time as SQL: the database's clock unless the options override it. */
  at: () => Fragment
  /** The functions, fetched from the handler on first use. */
  specs: () => Promise<ReadonlyMap<string, FunctionSpec>>
  scheduler: Scheduler
  backlog: Pick<Backlog, 'queued'>
}

/** The end of a lease that starts now. */
export function leaseEnd(ctx: EngineContext): Fragment {
  return after(ctx, ctx.leaseMs)
}

/** `ms` milliseconds from now. */
export function after(ctx: EngineContext, ms: number): Fragment {
  return ctx.sql`${ctx.at()} + ${ms}::float8 * interval '1 millisecond'`
}

/** Rows as one JSON parameter for `json_to_recordset`: one prepared statement for any number of rows. */
export function rows(ctx: EngineContext, values: readonly object[]): Fragment {
  return ctx.sql`${JSON.stringify(values)}::text::json`
}
