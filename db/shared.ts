import { AsyncLocalStorage } from 'node:async_hooks'
import { processWide } from './process-wide'
import type { Database } from './types'

/** Everything `db` keeps for the whole process. */
export const shared = processWide('db', () => ({
  /** The open pools, by connection string. */
  pools: new Map<string, Database>(),
  /** When the database work at hand must end, on the clock of `performance.now()`. */
  deadline: new AsyncLocalStorage<number>(),
}))
