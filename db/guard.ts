import type postgres from 'postgres'
import { DatabaseUnavailable, late, timeLeft, within } from './deadline'
import { withoutValues } from './error-values'

type Sql = postgres.Sql
type Callback = (sql: Sql) => unknown
type Values = Parameters<Sql['unsafe']>[1]

/** The guard's inputs: the current pool, the limits, and callbacks that count answers and timeouts. */
export interface Guarded {
  pool(): Sql
  callMs: number
  transactionMs: number
  answered(): void
  expired(): void
  /** Called with 1 when a call begins, and with -1 when it has ended. */
  busy(by: 1 | -1): void
  /** Called with the reason when a query outside a transaction, or the start of a transaction, fails. */
  failed(error: unknown): void
  /** Members that the pool's owner provides, such as `listen` and `end`. */
  own: Record<string, unknown>
}

/** A driver that limits the duration of every call and survives the replacement of its pool. */
export function guard(guarded: Guarded): Sql {
  return facade(guarded.pool, (query) => arm(query, guarded, () => timeLeft(guarded.callMs)), {
    ...guarded.own,
    begin: begin(guarded),
    reserve: async () => {
      const reserved = await within(guarded.pool().reserve(), timeLeft(guarded.callMs), guarded.expired)
      return facade(
        () => reserved,
        (query) => arm(query, guarded, () => timeLeft(guarded.callMs)),
        {},
      )
    },
    notify: (channel: string, payload: string) =>
      within(guarded.pool().notify(channel, payload), timeLeft(guarded.callMs), guarded.expired),
  })
}

function begin(guarded: Guarded) {
  return (...args: [Callback] | [string, Callback]): Promise<unknown> => {
    const [options, work] = args.length === 1 ? ['', args[0]] : args
    const ms = timeLeft(guarded.transactionMs)
    const expiresAt = performance.now() + ms
    let given = false
    const run = (tx: unknown) => {
      // The caller has already seen the transaction fail, so work that waited for a connection must not start.
      if (given) throw late(ms)
      const own = transaction(tx as Sql, { ...guarded, expired: ignore, failed: ignore, busy: ignore }, expiresAt)
      return ms > guarded.transactionMs ? allowTime(own, ms + guarded.callMs).then(() => work(own)) : work(own)
    }
    // A deferred constraint fails at the commit, which the driver itself sends.
    guarded.busy(1)
    const begun = guarded
      .pool()
      .begin(options, run)
      .catch((error: unknown) => {
        throw withoutValues(error)
      })
    begun.catch(guarded.failed).finally(() => guarded.busy(-1))
    return within(begun, ms, () => {
      given = true
      guarded.expired()
    })
  }
}

/**
 * Extends the server's statement limit for a caller that waits longer than others (`withDeadline`). Setting a limit
 * does not restart one that is running, so the old limit is removed first. Does nothing without a limit, or if the
 * server does not support it.
 */
async function allowTime(tx: Sql, ms: number): Promise<void> {
  await tx`
    select set_config('transaction_timeout', '0', true),
      set_config('transaction_timeout', ${String(Math.ceil(ms))}, true)
    where current_setting('transaction_timeout', true) <> '0'`
}

function transaction(tx: Sql, guarded: Guarded, expiresAt: number): Sql {
  const nested = (...args: [Callback] | [string, Callback]): unknown => {
    const { savepoint } = tx as unknown as { savepoint(...args: unknown[]): unknown }
    const wrap = (work: Callback) => (inner: unknown) => work(transaction(inner as Sql, guarded, expiresAt))
    return args.length === 1 ? savepoint(wrap(args[0])) : savepoint(args[0], wrap(args[1]))
  }
  return facade(
    () => tx,
    (query) => arm(query, guarded, () => expiresAt - performance.now()),
    { savepoint: nested },
  )
}

/** Behaves like `driver()`, but passes its queries through `watch`. Members of `own` override the driver's. */
function facade(driver: () => Sql, watch: <T>(made: T) => T, own: Record<string, unknown>): Sql {
  const members: Record<string, unknown> = {
    // Drizzle's statements arrive here. Drizzle asks for unprepared ones, which Postgres would parse and plan each
    // time.
    unsafe: (text: string, values?: Values, options?: postgres.UnsafeQueryOptions) =>
      watch(driver().unsafe(text, values, values?.length ? { ...options, prepare: true } : options)),
    file: (...args: Parameters<Sql['file']>) => watch(driver().file(...args)),
    json: (value: postgres.JSONValue) => driver().typed(value === null ? null : JSON.stringify(value), 3802),
    ...own,
  }
  return new Proxy(ignore as unknown as Sql, {
    apply: (_target, _self, args: unknown[]) => watch((driver() as unknown as (...a: unknown[]) => unknown)(...args)),
    get: (_target, key) => (typeof key === 'string' && members[key]) || Reflect.get(driver(), key),
    has: (_target, key) => Reflect.has(driver(), key),
  })
}

/**
 * The internals of the driver's lazy query that the guard hooks into. The driver's version is pinned because of this.
 */
interface LazyQuery extends Promise<unknown> {
  executed: boolean
  cursorFn?: unknown
  handle(): unknown
  resolve(value: unknown): void
  reject(error: unknown): void
  /** Not `cancel()`, which drops the canceller's promise and so hides the failure of a broken connection. */
  canceller: ((query: LazyQuery) => Promise<unknown>) | null
}

function isQuery(made: unknown): made is LazyQuery {
  return made instanceof Promise && 'handle' in made && 'reject' in made
}

/** Starts the query's clock when it is sent, not when it is written: most templates are parts of other statements. */
function arm<T>(made: T, guarded: Guarded, allowed: () => number): T {
  if (!isQuery(made)) return made
  const query: LazyQuery = made
  const send = query.handle
  query.handle = () => {
    // A cursor advances at its reader's pace, so it has no time limit.
    if (query.executed || query.cursorFn) return send.call(query)
    const { resolve, reject } = query
    const ms = allowed()
    if (ms <= 0) {
      query.executed = true
      return reject(late(ms))
    }
    guarded.busy(1)
    // A late query may still be answered.
    let busy = true
    const ended = () => {
      if (busy) guarded.busy(-1)
      busy = false
    }
    const timer = setTimeout(() => {
      ended()
      guarded.expired()
      query.reject = ignore // the driver would report to the caller that it was cancelled
      // Best effort, so that a slow statement releases its locks. Must precede the rejection, after which the driver
      // considers the query finished.
      query.canceller?.(query).catch(ignore)
      reject(late(ms))
    }, ms)
    query.resolve = (value) => {
      clearTimeout(timer)
      ended()
      guarded.answered()
      resolve(value)
    }
    query.reject = (error) => {
      clearTimeout(timer)
      ended()
      withoutValues(error)
      if (!(error instanceof DatabaseUnavailable) && isServerError(error)) guarded.answered()
      guarded.failed(error)
      reject(error)
    }
    return send.call(query)
  }
  return made
}

function isServerError(error: unknown): boolean {
  return error instanceof Error && error.name === 'PostgresError'
}

function ignore(): void {}
