import { availableParallelism } from 'node:os'
import { processWide } from '@/db/process-wide'
import { ScriptPool } from './pool'

const shared = () => processWide<{ pool?: ScriptPool }>('script-pool', () => ({}))

const MIB = 1024 * 1024

/** This process's pool, created on first use. */
export function sharedPool(): ScriptPool {
  const state = shared()
  state.pool ??= new ScriptPool({
    maxRunning: Math.min(Math.max(availableParallelism(), 2), 5),
    maxWaiting: 16,
    maxQueueMs: 30_000,
    queue: { scripts: 1000, chars: 64 * MIB },
    idleMs: 30_000,
  })
  return state.pool
}

/** How busy this process's pool is. */
export function scriptUsage(): { workers: number; waiting: number } {
  const { pool } = shared()
  return { workers: pool?.size ?? 0, waiting: pool?.waiting ?? 0 }
}

/** Ends all workers, for shutdown and tests. Scripts still running fail. */
export async function stopSandbox(): Promise<void> {
  await shared().pool?.stop()
}
