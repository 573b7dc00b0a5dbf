import type { PendingQuery, Row, Sql } from 'postgres'
import type { EngineLog } from './index'
import type { FunctionSpec } from './registry'

/** A piece of a statement; never await one, that would run it. */
export type Fragment = PendingQuery<Row[]>

/** A job this process holds, with all a call needs to know. Texts hold JSON. */
export interface Claim {
  jobId: string
  /** The fencing token: every write on behalf of this claim repeats it. */
  generation: string
  runId: string
  functionId: string
  kind: 'run' | 'step' | 'sleep' | 'end' | 'cron'
  stepId: string | null
  attempt: number
  deliveries: number
  lane: string | null
  event: string
  memo: Map<string, string>
  pending: number
  race: boolean
  started: boolean
  running: boolean
}

/** What the statements ask of the worker of this process. */
export interface Scheduler {
  /** Sets aside up to `wanted` free places for claims that are about to be inserted; says how many. */
  reserve(wanted: number): number
  release(places: number): void
  /** Takes claims into places set aside before. */
  take(claims: Claim[]): void
  /** Something that nobody has claimed is due now. */
  wake(): void
  /** Something will be due in so many milliseconds. */
  dueIn(ms: number): void
  /** The run has ended: its calls need not go on. */
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
  /** The present in a statement: the database's clock, unless a clock was injected. */
  at: () => Fragment
  /** The functions, learnt from the handler on first use. */
  specs: () => Promise<ReadonlyMap<string, FunctionSpec>>
  scheduler: Scheduler
}

/** The end of a lease that begins now. */
export function leaseEnd(ctx: EngineContext): Fragment {
  return after(ctx, ctx.leaseMs)
}

/** So many milliseconds from now. */
export function after(ctx: EngineContext, ms: number): Fragment {
  return ctx.sql`${ctx.at()} + ${ms}::float8 * interval '1 millisecond'`
}

/** Rows as one JSON parameter, for `json_to_recordset`: needs no array types and no statement per length. */
export function rows(ctx: EngineContext, values: readonly object[]): Fragment {
  return ctx.sql`${JSON.stringify(values)}::text::json`
}
