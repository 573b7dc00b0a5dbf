import type { PendingQuery, Row, Sql } from 'postgres'
import type { Backlog } from './backlog'
import type { FunctionSpec } from './registry'
import type { EngineLog } from './types'

/** A piece of a statement. Never await one: that would run it. */
export type Fragment = PendingQuery<Row[]>

/** A job that this process holds, with everything a call needs. Strings hold JSON. */
export interface Claim {
  jobId: string
  /** The fencing token, which every write for this claim repeats. */
  generation: string
  runId: string
  functionId: string
  kind: 'run' | 'step' | 'sleep' | 'end' | 'cron'
  stepId: string | null
  attempt: number
  /** How often the job's process died since the job last made progress. */
  deliveries: number
  /**
   * What the limit counts by: one lane per value of the function's concurrency key. Null for a function without a
   * limit.
   */
  lane: string | null
  event: string
  memo: Map<string, string>
  pending: number
  race: boolean
  started: boolean
  running: boolean
  /** The run has no row yet: its job is all there is, and has its event. */
  withoutRow: boolean
}

/** What the statements need from this process's worker. */
export interface Scheduler {
  /** Whether a process of an older release is running. */
  readonly older: boolean
  /** Reserves up to `wanted` free slots for claims about to be inserted. @returns how many */
  reserve(wanted: number): number
  release(slots: number): void
  /** Reserves a slot for one claim of a lane, unless others wait or the lane has its share or its limit already. */
  reserveFor(lane: string | null, limit: number): boolean
  /** Gives back what `reserveFor` reserved. */
  releaseFrom(lane: string | null): void
  /** A statement failed that may have claimed jobs for this process all the same. */
  recheckQueue(): void
  /** Starts a claim in the slot that `reserveFor` reserved. */
  start(claim: Claim): void
  /** Starts claims in reserved slots. */
  take(claims: Claim[]): void
  /** Something is due now that nobody has claimed. */
  wake(): void
  /** Something will be due in `ms` milliseconds. */
  dueIn(ms: number): void
  /** A run has ended with nothing left to write: its job may be removed. */
  finished(claim: Claim): void
  /** The run has ended, so its calls need not continue. */
  ended(runId: string): void
}

export interface EngineContext {
  sql: Sql
  /**
   * For statements that find a few rows by key. The queue is often empty when Postgres plans them, so it would read the
   * table whole, and go on doing so while hundreds of thousands of removed jobs are still in it.
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
  /** The current time as SQL: the database's clock unless the options bring their own. */
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
