import { drizzle, type PostgresJsDatabase } from 'drizzle-orm/postgres-js'
import type postgres from 'postgres'
import { timeLeft, within } from './deadline'
import { guard } from './guard'
import { openDriver } from './url'

export { DatabaseUnavailable, isUnavailable, sqlState, withDeadline } from './deadline'

export type Sql = postgres.Sql
export type Db = PostgresJsDatabase<Record<string, never>>
export type Tx = Parameters<Parameters<Db['transaction']>[0]>[0]

export interface Database {
  /** Raw statements: timestamps as Date; a string given for a json parameter is taken as JSON text. */
  sql: Sql
  db: Db
  close(): Promise<void>
}

export interface ConnectOptions {
  /** Connections at most; at least two, since a pool of one can hang after the server restarts. */
  max?: number
  applicationName?: string
  /** Limit of one call; a transaction has three times as much. `withDeadline` replaces both. */
  deadlineMs?: number
  /** After this long the server itself ends a statement, whatever became of its caller. Unlimited unless given. */
  statementTimeoutMs?: number
  /** Connections that nobody used for so long are closed. Kept unless given. */
  idleTimeoutS?: number
  /** Tells pools for one URL apart. */
  name?: string
  /** Hears that a pool which had stopped answering was replaced. */
  onReplaced?: () => void
}

const SILENT_CALLS = 3
const OLD_POOL_GRACE_S = 15

// On globalThis because Next evaluates a module once for instrumentation and again for routes.
const KEY: unique symbol = Symbol.for('millrace.database.pools')
const shared = globalThis as { [KEY]?: Map<string, Database> }
const pools = shared[KEY] ?? new Map<string, Database>()
shared[KEY] = pools

/** Poolers such as PgBouncer refuse the setting when a connection is made; their connections go without it. */
const REFUSED = /unsupported startup parameter/i

/**
 * The process's connection pool for a URL (`?host=/dir` for a Unix socket); a second call returns the first pool.
 * Every call on it rejects with DatabaseUnavailable when it is late, and after three late calls in a row with no
 * answer between them the connections behind it are replaced, as those of a stalled link never recover.
 */
export function connect(url: string, options: ConnectOptions = {}): Database {
  const key = options.name === undefined ? url : `${url}#${options.name}`
  const known = pools.get(key)
  if (known) return known
  const database = openDatabase(url, options)
  const close = () => {
    pools.delete(key)
    return database.close()
  }
  pools.set(key, { ...database, close })
  return { ...database, close }
}

/** A pool of the caller's own, with the same guarantees. */
export function openDatabase(url: string, options: ConnectOptions = {}): Database {
  const { max = 10, applicationName = 'millrace', deadlineMs = 5_000, statementTimeoutMs, idleTimeoutS } = options
  if (max < 2) throw new Error('A connection pool needs at least two connections (max >= 2).')

  let limited = statementTimeoutMs !== undefined
  const openPool = () =>
    openDriver(url, {
      max,
      connect_timeout: 10,
      backoff,
      ...(idleTimeoutS === undefined ? {} : { idle_timeout: idleTimeoutS }),
      connection: {
        application_name: applicationName,
        ...(limited ? { statement_timeout: statementTimeoutMs } : {}),
      },
    })
  let pool = openPool()
  let silent = 0
  const listeners = new Set<Listener>()

  function replace(): void {
    const old = pool
    pool = openPool()
    silent = 0
    // A failed subscription is repeated by the driver itself, and a notification is only ever a hint.
    for (const listener of listeners) listener.subscribe()
    // What is under way on the old connections may still finish.
    old.end({ timeout: OLD_POOL_GRACE_S }).catch(ignore)
    options.onReplaced?.()
  }

  function listen(channel: string, onnotify: (value: string) => void, onlisten?: () => void) {
    const listener: Listener = {
      subscribe() {
        listener.current = pool.listen(channel, onnotify, onlisten)
        listener.current.catch(ignore)
        return listener.current
      },
    }
    listeners.add(listener)
    const subscribed = within(listener.subscribe(), timeLeft(deadlineMs)).catch((error: unknown) => {
      listeners.delete(listener)
      throw error
    })
    return subscribed.then((meta) => ({
      state: meta.state,
      unlisten: async () => {
        listeners.delete(listener)
        await (await listener.current)?.unlisten()
      },
    }))
  }

  const close = () => pool.end({ timeout: 2 })

  const sql = guard({
    pool: () => pool,
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
    own: { listen, end: close, close },
  })
  return { sql, db: drizzleOn(sql), close }
}

interface Listener {
  subscribe(): postgres.ListenRequest
  current?: postgres.ListenRequest
}

/** Drizzle turns off the parsers of the driver it is given; it gets blank ones, so that raw statements keep theirs. */
function drizzleOn(sql: Sql): Db {
  const client = { options: { parsers: {}, serializers: {} }, unsafe: sql.unsafe, begin: sql.begin }
  return drizzle(client as unknown as Sql, { schema: {}, casing: 'snake_case' })
}

/** Seconds until the next attempt to connect. The driver's own curve reaches 20 s, long after a restart is over. */
function backoff(attempt: number): number {
  return (0.5 + Math.random() / 2) * Math.min(0.02 * 2 ** attempt, 1)
}

function ignore(): void {}
