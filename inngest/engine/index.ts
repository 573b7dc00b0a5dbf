import { createFetch } from './api'
import { Backlog } from './backlog'
import { serverRetryDelayMs } from './backoff'
import { createExecute } from './execute'
import { leave } from './presence'
import { findDirectFunctions, queue, roomFor, slotFor } from './queue'
import { addressOf, functionReader } from './read-functions'
import type { FunctionSpec } from './registry'
import { KEEP_MS, LEASE_MS, LONGEST_PAUSE_MS, SLOTS } from './settings'
import type { Engine, EngineOptions } from './types'
import { Worker } from './worker'

export { createEnqueuer } from './enqueue'
export { Notifier } from './notifier'
export type {
  Engine,
  EngineLog,
  EngineOptions,
  HandlerAnswer,
  HandlerCall,
  NativeHandler,
  Queued,
  QueuedJob,
  Room,
} from './types'

export function createEngine(options: EngineOptions): Engine {
  const { sql, handler, signingKey, bootId, log, listen } = options
  const now = options.now ?? (() => new Date())
  const handlers = options.handlers ?? new Map()
  const readFunctions = functionReader(options, now)
  let directFunctions: ReadonlyMap<string, FunctionSpec> = new Map()
  const backlog = new Backlog(sql, log, options.mostWaiting ?? 0)
  const worker = new Worker(
    { ...settingsOf(options), now, specs: readFunctions, backlog },
    createExecute({ handler, handlers, appUrl: addressOf(options), signingKey }),
    {
      slots: options.slots ?? SLOTS,
      keepMs: options.keepMs ?? KEEP_MS,
      mostWaiting: options.mostWaiting ?? 0,
      listen,
    },
  )
  return {
    fetch: createFetch(worker),
    async start() {
      await worker.open()
      directFunctions = findDirectFunctions(await readFunctions(), handlers)
    },
    stop: async ({ graceMs }) => {
      directFunctions = new Map()
      await worker.stop(graceMs)
      leave(bootId)
    },
    queue: (event, slot) => (worker.older ? undefined : queue(worker.ctx, directFunctions, event, slot)),
    slotFor: async (event, patience) =>
      worker.older
        ? null
        : slotFor({ scheduler: worker, admissions: worker.admissions }, directFunctions, event, patience),
    room: (event) => roomFor({ backlog, admissions: worker.admissions }, directFunctions, event),
    startsWait: () => worker.admissions.anyWaits,
    older: () => worker.older,
    kick: () => worker.kick(),
  }
}

/** What statements take from the options, or from the defaults. */
function settingsOf({ sql, now, ...options }: EngineOptions) {
  return {
    sql,
    byKey: options.byKey ?? sql,
    log: options.log,
    bootId: options.bootId,
    hostId: options.hostId,
    leaseMs: options.leaseMs ?? LEASE_MS,
    longestPauseMs: options.longestPauseMs ?? LONGEST_PAUSE_MS,
    retryDelayMs: options.retryDelayMs ?? serverRetryDelayMs,
    at: now ? () => sql`${now().toISOString()}::text::timestamptz` : () => sql`now()`,
  }
}
