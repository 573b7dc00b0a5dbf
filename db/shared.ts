import { AsyncLocalStorage } from 'node:async_hooks'
import { processWide } from './process-wide'
import type { Database } from './types'

export interface PoolUsage {
  /** How many connections it may open. */
  most: number
  calls: number
}

/** The process-wide state of `db`. */
export const shared = () =>
  processWide('db', () => ({
    /** Open pools by connection string. */
    pools: new Map<string, Database>(),
    /** Connection strings behind which prepared statements get lost. */
    unprepared: new Set<string>(),
    /** Settings of connections that the server or a pooler has rejected, by connection string. */
    rejected: new Map<string, Set<string>>(),
    /** Database calls in flight or waiting for a connection, by pool. */
    usage: new Map<string, PoolUsage>(),
    /** Until when accepted work takes priority, on the clock of `performance.now()`. */
    startedWorkFirstUntil: 0,
    /** When the current database work must end, on the clock of `performance.now()`. */
    deadline: new AsyncLocalStorage<number>(),
  }))
