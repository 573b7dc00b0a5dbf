import type { Sql } from 'postgres'
import { createFetch } from './api'
import { serverRetryDelayMs } from './backoff'
import { createExecute } from './execute'
import { leave } from './presence'
import { type FunctionSpec, parseRegistration } from './registry'
import { signature } from './sign'
import { Worker } from './worker'

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

export interface EngineLog {
  debug(obj: object, msg: string): void
  info(obj: object, msg: string): void
  warn(obj: object, msg: string): void
  error(obj: object, msg: string): void
}

export interface EngineOptions {
  /** A postgres.js pool, never of one connection; the engine also listens on it. */
  sql: Sql
  /** The SDK's handler, in process or over HTTP. */
  handler: (call: HandlerCall, signal: AbortSignal) => Promise<HandlerAnswer>
  /** When given, calls carry `x-inngest-signature`. */
  signingKey?: string
  /** Where the handler lives; only its query is the engine's own. */
  appUrl?: string
  /** Identifies this process's life: claims of a dead boot on the same host are taken over at once. */
  bootId: string
  /** The same machine and data folder have the same id. */
  hostId: string
  now?: () => Date
  log: EngineLog
  /** Calls in flight. */
  concurrency?: number
  leaseMs?: number
  retryDelayMs?: (attempt: number) => number
  /** How long ended runs and their results are kept. */
  keepMs?: number
  /** How often a call may end with its process before its run fails as `worker lost`; 5 unless given. */
  mostDeliveries?: number
}

export interface Engine {
  /** Given to `new Inngest({ fetch })`: events, checkpoints, signals and the end of runs; everything else is 404. */
  fetch: typeof globalThis.fetch
  /** Learns the functions, takes over claims of dead boots of this host and begins to claim. */
  start(): Promise<void>
  /** Stops claiming, waits for calls, and gives back what remains so that others go on at once. */
  stop(options: { graceMs: number }): Promise<void>
  /** Something may be due now. */
  kick(): void
}

const TWO_DAYS_MS = 2 * 86_400_000

export function createEngine(options: EngineOptions): Engine {
  const { sql, handler, signingKey, bootId, hostId, log, appUrl = 'http://embedded.invalid/api/inngest' } = options
  const now = options.now ?? (() => new Date())
  let specs: Promise<ReadonlyMap<string, FunctionSpec>> | undefined
  const learn = () => {
    // A failure is told to whoever asked, and whoever asks next tries again.
    specs ??= register(handler, appUrl, signingKey, now().getTime()).catch((error: unknown) => {
      specs = undefined
      throw error
    })
    return specs
  }
  const worker = new Worker(
    {
      sql,
      log,
      bootId,
      hostId,
      leaseMs: options.leaseMs ?? 15_000,
      retryDelayMs: options.retryDelayMs ?? serverRetryDelayMs,
      now,
      at: options.now ? () => sql`${now().toISOString()}::text::timestamptz` : () => sql`now()`,
      specs: learn,
    },
    createExecute({ handler, appUrl, signingKey, mostDeliveries: options.mostDeliveries ?? 5 }),
    options.concurrency ?? 64,
    options.keepMs ?? TWO_DAYS_MS,
  )
  return {
    fetch: createFetch(worker),
    start: () => worker.start(),
    stop: async ({ graceMs }) => {
      await worker.stop(graceMs)
      leave(bootId)
    },
    kick: () => worker.kick(),
  }
}

/** Asks the handler for its functions (an in-band sync) and refuses what cannot be honoured. */
async function register(
  handler: EngineOptions['handler'],
  appUrl: string,
  signingKey: string | undefined,
  now: number,
): Promise<Map<string, FunctionSpec>> {
  const url = new URL(appUrl)
  const body = { url: url.href }
  const headers: Record<string, string> = {
    host: url.host,
    'content-type': 'application/json',
    'x-inngest-sync-kind': 'in_band',
  }
  if (signingKey) headers['x-inngest-signature'] = signature(signingKey, body, now)
  const call = { method: 'PUT' as const, url: url.href, headers, body }
  const answer = await handler(call, new AbortController().signal)
  if (answer.status !== 200) throw new Error(`The functions could not be learnt: the handler answered ${answer.status}`)
  return parseRegistration(JSON.parse(answer.body))
}
