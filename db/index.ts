import { drizzle } from 'drizzle-orm/postgres-js'
import { timeLeft, within } from './deadline'
import { guard } from './guard'
import { type Subscriber, type Subscription, subscribe } from './listen'
import { shared } from './shared'
import type { Database, Db, Sql } from './types'
import { openDriver } from './url'

export { DatabaseUnavailable, isUnavailable, sqlState, withDeadline } from './deadline'
export { jsonb, type Statement, send, sql } from './statement'
export type { Database, Db, Sql, Tx } from './types'

export interface ConnectOptions {
  /** Maximum number of connections. At least two, because a pool of one can hang after the server restarts. */
  max?: number
  applicationName?: string
  /** How long one call may take. A transaction may take three times that. `withDeadline` replaces both. */
  deadlineMs?: number
  /** The server cancels a statement after this long, even if its caller is gone. No limit by default. */
  statementTimeoutMs?: number
  /** Closes connections that have been idle for this long. Never by default. */
  idleTimeoutS?: number
  /** The same server without a pooler, for LISTEN. */
  listenUrl?: string | undefined
  /** Distinguishes pools for the same URL. */
  name?: string
  /** Called after an unresponsive pool was replaced. */
  onReplaced?: () => void
}

const SILENT_CALLS = 3
const OLD_POOL_GRACE_S = 15

/** Poolers such as PgBouncer reject the setting at connection time; connections through them go without it. */
const REFUSED = /unsupported startup parameter/i

/**
 * The process's connection pool for a URL (`?host=/dir` for a Unix socket). A second call returns the same pool. A late
 * call rejects with DatabaseUnavailable. After three late calls in a row the pool replaces its connections, because
 * those on a stalled network link never recover.
 */
export function connect(url: string, options: ConnectOptions = {}): Database {
  const key = options.name === undefined ? url : `${url}#${options.name}`
  const known = shared.pools.get(key)
  if (known) return known
  const database = openDatabase(url, options)
  const close = () => {
    shared.pools.delete(key)
    return database.close()
  }
  shared.pools.set(key, { ...database, close })
  return { ...database, close }
}

/** A separate pool for the caller, with the same guarantees. */
export function openDatabase(url: string, options: ConnectOptions = {}): Database {
  const { max = 10, applicationName = 'millrace', deadlineMs = 5_000, statementTimeoutMs, idleTimeoutS } = options
  const { listenUrl = url } = options
  if (max < 2) throw new Error('A connection pool needs at least two connections (max >= 2).')

  let limited = statementTimeoutMs !== undefined
  const open = (own: Parameters<typeof openDriver>[1], at = url) =>
    openDriver(at, {
      prepare: !shared.unprepared.has(at),
      connect_timeout: 10,
      backoff,
      connection: {
        application_name: applicationName,
        ...(limited ? { statement_timeout: statementTimeoutMs } : {}),
      },
      ...own,
    })
  const openPool = () => open({ max, ...(idleTimeoutS === undefined ? {} : { idle_timeout: idleTimeoutS }) })
  const openListener: typeof open = (own) => open(own, listenUrl)
  let pool = openPool()
  let silent = 0
  let usedAt = Date.now()
  const listeners = new Set<Listener>()

  function replace(): void {
    const old = pool
    pool = openPool()
    silent = 0
    for (const listener of listeners) {
      listener.current.close()
      listener.current = subscribe(openListener, listener.channel, listener.subscriber)
    }
    // Work in progress on the old connections may still finish.
    old.end({ timeout: OLD_POOL_GRACE_S }).catch(ignore)
    options.onReplaced?.()
  }

  /**
   * A process that slept wakes with connections that should have been closed meanwhile. What is left of them may never
   * answer, so they are not used again. The clock on the wall goes on during such sleep.
   */
  function current(): Sql {
    const now = Date.now()
    if (idleTimeoutS !== undefined && now - usedAt > idleTimeoutS * 1_000) replace()
    usedAt = now
    return pool
  }

  async function listen(channel: string, subscriber: Subscriber): Promise<void> {
    const listener = { channel, subscriber, current: subscribe(openListener, channel, subscriber) }
    listeners.add(listener)
    await within(listener.current.ready, timeLeft(deadlineMs))
  }

  const close = async () => {
    for (const { current } of listeners) current.close()
    await pool.end({ timeout: 2 })
  }

  const sql = guard({
    pool: current,
    callMs: deadlineMs,
    transactionMs: deadlineMs * 3,
    answered: () => {
      silent = 0
    },
    expired: () => {
      silent += 1
      if (silent >= SILENT_CALLS) replace()
    },
    failed: (error) => {
      if (!limited || !(error instanceof Error) || !REFUSED.test(error.message)) return
      limited = false
      replace()
    },
    own: { end: close, close },
  })
  return { sql, db: drizzleOn(sql), listen, close }
}

interface Listener {
  channel: string
  subscriber: Subscriber
  current: Subscription
}

/** Drizzle turns off its driver's parsers, so it gets empty ones of its own. Raw statements keep theirs. */
function drizzleOn(sql: Sql): Db {
  const client = { options: { parsers: {}, serializers: {} }, unsafe: sql.unsafe, begin: sql.begin }
  return drizzle(client as unknown as Sql, { schema: {}, casing: 'snake_case' })
}

/** Seconds until the next connection attempt. The driver's own delays grow to 20 s, far longer than a restart takes. */
function backoff(attempt: number): number {
  return (0.5 + Math.random() / 2) * Math.min(0.02 * 2 ** attempt, 1)
}

function ignore(): void {}
