import type { Sql } from 'postgres'
import type { NativeHandler } from './native'
import type { Queued } from './queue'

/** A request to the SDK's handler. */
export interface HandlerCall {
  method: 'PUT' | 'POST'
  url: string
  headers: Record<string, string>
  body: unknown
}

export interface HandlerAnswer {
  status: number
  headers: Record<string, string>
  body: string
}

/** The SDK's handler, in process or over HTTP. */
export type Handler = (call: HandlerCall, signal: AbortSignal) => Promise<HandlerAnswer>

export interface EngineLog {
  debug(obj: object, msg: string): void
  info(obj: object, msg: string): void
  warn(obj: object, msg: string): void
  error(obj: object, msg: string): void
}

export interface EngineOptions {
  /** A postgres.js pool with at least two connections. The engine also listens on it. */
  sql: Sql
  handler: Handler
  /**
   * The functions' own handlers by the function's id. Fresh runs of these are called without the SDK's protocol for as
   * long as they only run steps, and their steps' results stay in memory: a process that dies repeats its steps.
   */
  handlers?: ReadonlyMap<string, NativeHandler>
  /** When set, calls carry `x-inngest-signature`. */
  signingKey?: string
  /** The handler's URL. The engine only adds the query. */
  appUrl?: string
  /** Names this boot of the process. Claims of a dead boot on the same host are taken over at once. */
  bootId: string
  /** The same for all processes that share a machine and a data folder. */
  hostId: string
  now?: () => Date
  log: EngineLog
  /** The maximum number of calls in flight. */
  places?: number
  leaseMs?: number
  retryDelayMs?: (attempt: number) => number
  /** How long ended runs and their results are kept. */
  keepMs?: number
}

export interface Engine {
  /** For `new Inngest({ fetch })`: accepts events, checkpoints, signals and cancellations. Anything else is a 404. */
  fetch: typeof globalThis.fetch
  /** Learns the functions, takes over claims of this host's dead boots and starts claiming. */
  start(): Promise<void>
  /** Stops claiming, gives calls `graceMs` to end, and gives up the rest so that other processes continue at once. */
  stop(options: { graceMs: number }): Promise<void>
  /**
   * Prepares the job that an event starts, for the transaction that writes what the event reports. Undefined if the event
   * must be sent instead.
   */
  queue(event: { id: string; name: string; data: Record<string, unknown> }): Queued | undefined
  /** Something may be due now. */
  kick(): void
}
