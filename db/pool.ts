import { guard } from './guard'
import type { PoolUsage } from './shared'
import type { Sql } from './types'

const SILENT_CALLS = 3
const OLD_POOL_GRACE_S = 15

/** A pool whose connections are replaced when the server no longer answers on them. */
export interface Pool {
  sql: Sql
  replace(): void
  close(): Promise<void>
}

interface PoolOptions {
  deadlineMs: number
  transactionMs: number
  idleTimeoutS?: number | undefined
  usage: PoolUsage
  onReplaced(): void
  /** Ends everything that belongs to the pool. */
  end(): Promise<void>
  /** Called when a query outside a transaction, or the start of a transaction, fails. */
  failed(error: unknown): void
}

export function openPool(
  open: () => Sql,
  { deadlineMs, transactionMs, idleTimeoutS, usage, onReplaced, failed, end }: PoolOptions,
): Pool {
  let pool = open()
  let silent = 0
  let usedAt = Date.now()

  function replace(): void {
    const old = pool
    pool = open()
    silent = 0
    // Calls on the old connections may still finish.
    old.end({ timeout: OLD_POOL_GRACE_S }).catch(ignore)
    onReplaced()
  }

  /**
   * After a suspension, a process finds connections that should have been closed meanwhile. They may never respond, so
   * they are not used. The wall clock advances during a suspension.
   */
  function current(): Sql {
    const now = Date.now()
    if (idleTimeoutS !== undefined && now - usedAt > idleTimeoutS * 1_000) replace()
    usedAt = now
    return pool
  }

  const close = async () => {
    await pool.end({ timeout: 2 })
  }
  const sql = guard({
    pool: current,
    callMs: deadlineMs,
    transactionMs,
    answered: () => {
      silent = 0
    },
    expired: () => {
      silent += 1
      if (silent >= SILENT_CALLS) replace()
    },
    failed,
    busy: (by) => {
      usage.calls += by
    },
    own: { end, close: end },
  })
  return { sql, replace, close }
}

function ignore(): void {}
