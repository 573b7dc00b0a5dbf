import { drizzle } from 'drizzle-orm/postgres-js'
import { refusedSetting, timeLeft, within } from './deadline'
import { Listener, type Subscriber, type Subscription } from './listen'
import { openPool, type Pool } from './pool'
import { shared } from './shared'
import type { Database, Db, Sql } from './types'
import { openDriver } from './url'

export { sendBatched } from './batch'
export {
  type BatchStatement,
  batchStatement,
  encodeRow,
  fieldsOf,
  type ReadFields,
  readerOf,
  rowColumns,
} from './batch-statement'
export { DatabaseUnavailable, isUnavailable, sqlState, withDeadline } from './deadline'
export { preferStartedWork, startedWorkIsFirst } from './settle'
export { jsonb, type Statement, send, sql } from './statement'
export type { Database, Db, Sql, Tx } from './types'

export interface ConnectOptions {
  /** Maximum number of connections. At least two, because a pool of one can hang after the server restarts. */
  max?: number
  applicationName?: string
  /** Time limit of one call. A transaction may take three times that. `withDeadline` replaces both. */
  deadlineMs?: number
  /**
   * The server cancels a statement after this long, even if its caller has gone, and ends the session of a transaction
   * that takes longer than its caller waits. Unlimited by default.
   */
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

/** A pool of this size or more reserves this many connections for the statements of runs (`sendBatched`). */
const ROW_CONNECTIONS = 3
const LARGE_POOL = 8
/** Those statements find their rows by key. A plan made while a table was small would read it whole. */
const BY_KEY = { enable_seqscan: 'off', enable_bitmapscan: 'off' }

/** A transaction may take as long as this many calls. */
const TRANSACTION_CALLS = 3

/**
 * The process's connection pool for a URL (`?host=/dir` for a Unix socket). A second call returns the same pool. A late
 * call rejects with DatabaseUnavailable. After three late calls in a row the pool replaces its connections, because
 * those on a stalled network link never recover.
 */
export function connect(url: string, options: ConnectOptions = {}): Database {
  const key = options.name === undefined ? url : `${url}#${options.name}`
  const known = shared().pools.get(key)
  if (known) return known
  const database = openDatabase(url, options)
  const close = () => {
    shared().pools.delete(key)
    return database.close()
  }
  shared().pools.set(key, { ...database, close })
  return { ...database, close }
}

/** A separate pool for the caller, with the same guarantees. */
export function openDatabase(url: string, options: ConnectOptions = {}): Database {
  const { max = 10, applicationName = 'millrace', deadlineMs = 5_000, statementTimeoutMs, idleTimeoutS } = options
  const { listenUrl = url } = options
  if (max < 2) throw new Error('A connection pool needs at least two connections (max >= 2).')

  /** The settings that connections request as they open, except those that a pooler has rejected. */
  const timeout: Settings = statementTimeoutMs === undefined ? {} : limits(statementTimeoutMs, deadlineMs)
  const refused = shared().rejected.get(url) ?? new Set<string>()
  shared().rejected.set(url, refused)
  const accepted = (settings: Settings) =>
    Object.fromEntries(Object.entries(settings).filter(([name]) => !refused.has(name)))
  const open = (own: Parameters<typeof openDriver>[1], settings: Settings, at = url) =>
    openDriver(at, {
      prepare: !shared().unprepared.has(at),
      connect_timeout: 10,
      backoff,
      connection: { application_name: applicationName, ...accepted(settings) },
      ...own,
    })
  const idle = idleTimeoutS === undefined ? {} : { idle_timeout: idleTimeoutS }
  const listener = new Listener((own) => open(own, timeout, listenUrl))
  const failed = (error: unknown) => {
    const named = refusedSetting(error)
    if (named === undefined) return
    const known = Object.keys({ ...timeout, ...BY_KEY })
    const names = known.includes(named) ? [named] : known
    // Several connections may be rejected concurrently.
    if (names.every((name) => refused.has(name))) return
    for (const name of names) refused.add(name)
    for (const { replace } of pools) replace()
  }
  const onReplaced = () => {
    listener.reopen()
    options.onReplaced?.()
  }
  const rowMax = max >= LARGE_POOL ? ROW_CONNECTIONS : 0
  const own = { deadlineMs, transactionMs: deadlineMs * TRANSACTION_CALLS, idleTimeoutS, failed, end: () => close() }
  const usage = (suffix: string, most: number) => {
    const own = { most, calls: 0 }
    shared().usage.set(`${applicationName}${suffix}`, own)
    return own
  }
  const main = openPool(() => open({ ...idle, max: max - rowMax }, timeout), {
    ...own,
    usage: usage('', max - rowMax),
    onReplaced,
  })
  const rows =
    rowMax === 0
      ? main
      : openPool(() => open({ ...idle, max: rowMax }, { ...timeout, ...BY_KEY }), {
          ...own,
          usage: usage('-rows', rowMax),
          onReplaced() {},
        })
  const pools = new Set<Pool>([main, rows])

  function listen(channel: string, subscriber: Subscriber): Subscription {
    const { ready, close } = listener.subscribe(channel, subscriber)
    return { ready: within(ready, timeLeft(deadlineMs)), close }
  }

  const close = async () => {
    listener.close()
    await Promise.all([...pools].map((pool) => pool.close()))
  }
  return { sql: main.sql, db: drizzleOn(main.sql, rows.sql), listen, close }
}

type Settings = Record<string, string | number>

/**
 * The server's own limits. If the link stalls, it never learns that a caller gave up a transaction, and would hold its
 * locks for hours, until TCP finds the connection dead: nobody could change or claim those runs. While the server waits
 * for the second half of a statement (the driver sends it in two parts the first time), it does not count as idle and
 * cannot cancel: only the limit of the whole transaction ends that (Postgres 17 and newer).
 */
function limits(statementTimeoutMs: number, deadlineMs: number): Settings {
  const transactionMs = deadlineMs * TRANSACTION_CALLS
  return {
    statement_timeout: statementTimeoutMs,
    idle_in_transaction_session_timeout: transactionMs,
    // After the caller gives up: before, the caller would get an error about a lost connection instead.
    transaction_timeout: transactionMs + deadlineMs,
  }
}

/** Drizzle turns off its driver's parsers, so it gets empty ones of its own. Raw statements keep theirs. */
function drizzleOn(sql: Sql, rows: Sql): Db {
  const client = { options: { parsers: {}, serializers: {} }, unsafe: sql.unsafe, begin: sql.begin, rows }
  return drizzle(client as unknown as Sql, { schema: {}, casing: 'snake_case' }) as Db
}

/** Seconds until the next connection attempt. The driver's own delays grow to 20 s, far longer than a restart takes. */
function backoff(attempt: number): number {
  return (0.5 + Math.random() / 2) * Math.min(0.02 * 2 ** attempt, 1)
}
