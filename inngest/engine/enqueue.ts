import { Backlog } from './backlog'
import { Notifier } from './notifier'
import { findDirectFunctions, queue, roomFor } from './queue'
import { functionReader } from './read-functions'
import type { FunctionSpec } from './registry'
import type { Engine, EngineOptions } from './types'

export type Enqueuer = Pick<Engine, 'queue' | 'room' | 'older'> & {
  /** Reads the functions. Before that, every event must be sent. */
  start(): Promise<void>
}

/**
 * The part of the engine for a process that only serves requests: it prepares jobs and notifies the processes that
 * work. It claims nothing and does not count as a worker.
 */
export function createEnqueuer(
  options: Pick<EngineOptions, 'sql' | 'handler' | 'handlers' | 'signingKey' | 'appUrl' | 'log' | 'mostWaiting'>,
): Enqueuer {
  const now = () => new Date()
  const readFunctions = functionReader(options, now)
  const notifier = new Notifier(options.sql, 'engine', options.log)
  const backlog = new Backlog(options.sql, options.log, options.mostWaiting ?? 0)
  const scheduler = {
    reserveFor: () => false,
    releaseFrom() {},
    recheckQueue() {},
    start() {},
    wake: () => notifier.notify(),
  }
  let directFunctions: ReadonlyMap<string, FunctionSpec> = new Map()
  return {
    async start() {
      directFunctions = findDirectFunctions(await readFunctions(), options.handlers ?? new Map())
    },
    room: (event) => roomFor({ backlog }, directFunctions, event),
    // It does not check which processes run.
    older: () => null,
    queue: (event) => queue({ now, scheduler, backlog, bootId: '', leaseMs: 0 }, directFunctions, event),
  }
}
