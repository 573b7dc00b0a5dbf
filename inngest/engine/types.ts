import type { Sql } from 'postgres'
import type { EngineEvent } from './protocol'

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

/** A native call's arguments for a function. */
export interface NativeCall {
  event: EngineEvent
  /** `run` works here; any other tool returns the call to the SDK. */
  step: Record<string, unknown>
  runId: string
  attempt: number
  /** Whether the process is stopping, so that no further step begins. */
  stopping: () => boolean
  /**
   * Called within a step that has also begun the next one, so that the next one runs even if the process is stopping.
   */
  guaranteeNextStep: () => void
}

/** A function's own handler, as given to the SDK. */
export type NativeHandler = (call: NativeCall) => Promise<unknown>

/** A job to insert in the caller's own transaction, together with the change that its event reports. */
export interface QueuedJob {
  id: string
  functionId: string
  lane: string | null
  event: string
  /** Set if this process begins immediately; null leaves the job to any process with a free slot. */
  owner: string | null
  /** How long the claim holds before it must be renewed. */
  leaseMs: number
}

export interface Queued {
  job: QueuedJob
  /** Call after the commit, with the generation drawn for a job with an owner. */
  committed(generation: string | null): void
  /** Call if it was not committed. */
  notWritten(): void
}

/** A slot reserved for one run. */
export interface Slot {
  /** Releases it, unless a run was queued with it. */
  release(): void
}

export interface Patience {
  ms: number
  signal: AbortSignal
  /** Called only if no slot is free. */
  mayWait(): Promise<boolean>
}

/** Whether one more job may be queued: yes, not in its lane, or in no lane. */
export type Room = 'free' | 'lane full' | 'full'

export interface EngineLog {
  debug(obj: object, msg: string): void
  info(obj: object, msg: string): void
  warn(obj: object, msg: string): void
  error(obj: object, msg: string): void
}

export interface EngineOptions {
  /** A postgres.js pool with at least two connections. */
  sql: Sql
  /** The same database, with sequential scans turned off, for statements that find their rows by key. */
  byKey?: Sql
  /**
   * Calls `notified` for each notification on a channel of the same database, and whenever it may have missed one,
   * until it is closed. Must not wait for the database.
   */
  listen(channel: string, notified: () => void): { close(): void }
  handler: Handler
  /**
   * The functions' own handlers, by the function's id. Fresh runs of these are called without the SDK's protocol while
   * they only run steps, and their steps' results stay in memory: a process that dies repeats its steps.
   */
  handlers?: ReadonlyMap<string, NativeHandler>
  /** When set, calls carry `x-inngest-signature`. */
  signingKey?: string
  /** The handler's URL. The engine only adds the query. */
  appUrl?: string
  /** Identifies this boot of the process. Claims of a dead boot on the same host are taken over immediately. */
  bootId: string
  /** The same for all processes that share a machine and a data folder. */
  hostId: string
  now?: () => Date
  log: EngineLog
  /** The maximum number of calls in flight. */
  slots?: number
  /** How many jobs may wait before `room` reports that none is left; 0, the default, for any number. */
  mostWaiting?: number
  leaseMs?: number
  /** The longest time between checks for work without a notification. */
  longestPauseMs?: number
  retryDelayMs?: (attempt: number) => number
  /** How long ended runs and their results are retained. */
  keepMs?: number
}

export interface Engine {
  /** For `new Inngest({ fetch })`: accepts events, checkpoints, signals and cancellations. Anything else is a 404. */
  fetch: typeof globalThis.fetch
  /** Reads the functions, takes over claims of this host's dead boots and starts claiming. */
  start(): Promise<void>
  /**
   * Stops claiming, gives calls `graceMs` to end, and releases the rest so that other processes continue immediately.
   */
  stop(options: { graceMs: number }): Promise<void>
  /**
   * Prepares the job that an event starts, for the transaction that writes what the event reports. Undefined if the
   * event must be sent instead, as while a process of an older release is running.
   */
  queue(event: { id: string; name: string; data: Record<string, unknown> }, slot?: Slot | null): Queued | undefined
  /**
   * Reserves a slot for the run that an event is about to start, as soon as one is free. Null if the run should be
   * queued instead: time is up, the signal was aborted, or queued jobs have waited and come first.
   */
  slotFor(event: { name: string; data: Record<string, unknown> }, patience: Patience): Promise<Slot | null>
  /** Whether starts wait for a slot. */
  startsWait(): boolean
  /** Whether the queue has room for an event's job, as far as this process knows. Sends no statement. */
  room(event: { name: string; data: Record<string, unknown> }): Room
  /** Whether a process of an older release is running; null if it does not check. */
  older(): boolean | null
  /** Work may be due now. */
  kick(): void
}
