import type { PendingQuery, Row, Sql } from 'postgres'
import type { FunctionSpec } from './registry'
import type { EngineLog } from './types'

/** A piece of a statement; never await one, that would run it. */
export type Fragment = PendingQuery<Row[]>

/** A job that this process holds, with all that a call needs. Texts hold JSON. */
export interface Claim {
  jobId: string
  /** The fencing token: every write on behalf of this claim repeats it. */
  generation: string
  runId: string
  functionId: string
  kind: 'run' | 'step' | 'sleep' | 'end' | 'cron'
  stepId: string | null
  attempt: number
  /** How often the job was lost with its process since it last got anywhere. */
  deliveries: number
  /** What a limit counts by: one lane per value of the function's concurrency key, null for a function without a limit. */
  lane: string | null
  event: string
  memo: Map<string, string>
  pending: number
  race: boolean
  started: boolean
  running: boolean
}

/** What the statements ask of this process's worker. */
export interface Scheduler {
  /** Sets aside up to `wanted` free places for claims about to be inserted. @returns how many */
  reserve(wanted: number): number
  release(places: number): void
  /** Begins claims in places set aside before. */
  take(claims: Claim[]): void
  /** Something is due now that nobody has claimed. */
  wake(): void
  /** Something will be due in so many milliseconds. */
  dueIn(ms: number): void
  /** The run has ended, so its calls need not go on. */
  ended(runId: string): void
}

export interface EngineContext {
  sql: Sql
  log: EngineLog
  bootId: string
  hostId: string
  leaseMs: number
  retryDelayMs: (attempt: number) => number
  now: () => Date
  /** Now, as a statement says it: the database's clock unless the options bring their own. */
  at: () => Fragment
  /** The functions, learnt from the handler when first needed. */
  specs: () => Promise<ReadonlyMap<string, FunctionSpec>>
  scheduler: Scheduler
}

/** When a lease that begins now ends. */
export function leaseEnd(ctx: EngineContext): Fragment {
  return after(ctx, ctx.leaseMs)
}

/** So many milliseconds from now. */
export function after(ctx: EngineContext, ms: number): Fragment {
  return ctx.sql`${ctx.at()} + ${ms}::float8 * interval '1 millisecond'`
}

/** Rows as one JSON parameter for `json_to_recordset`: one prepared statement for any number of rows. */
export function rows(ctx: EngineContext, values: readonly object[]): Fragment {
  return ctx.sql`${JSON.stringify(values)}::text::json`
}
