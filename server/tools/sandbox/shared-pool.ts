import { availableParallelism } from 'node:os'
import { ScriptPool } from './pool'

/** Next may load this module more than once; there is one pool in the process all the same. */
const POOL = Symbol.for('millrace.script-pool')
const shared = globalThis as typeof globalThis & { [POOL]?: ScriptPool }

const MIB = 1024 * 1024

/** The pool of this process, made when it is first asked for. */
export function sharedPool(): ScriptPool {
  shared[POOL] ??= new ScriptPool({
    maxRunning: Math.min(Math.max(availableParallelism(), 2), 5),
    maxWaiting: 16,
    maxQueueMs: 30_000,
    queue: { scripts: 1000, chars: 64 * MIB },
    idleMs: 30_000,
  })
  return shared[POOL]
}

/** Ends all workers, for shutdown and tests. Scripts still running fail. */
export async function stopSandbox(): Promise<void> {
  await shared[POOL]?.stop()
}
