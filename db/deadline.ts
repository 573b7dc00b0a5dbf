import { shared } from './shared'

/** The database did not respond in time. A write may or may not have happened. */
export class DatabaseUnavailable extends Error {
  override name = 'DatabaseUnavailable'
  readonly code = 'DATABASE_UNAVAILABLE'
}

/**
 * Gives all database calls of `work` one shared time limit instead of the default ones. It takes a function because a
 * call reads its limit when it is made.
 */
export function withDeadline<T>(ms: number, work: () => PromiseLike<T>): Promise<T> {
  return shared().deadline.run(performance.now() + ms, () => within(work(), ms))
}

/** Milliseconds the next call may take: the remainder of the enclosing `withDeadline`, or `otherwise`. */
export function timeLeft(otherwise: number): number {
  const expiresAt = shared().deadline.getStore()
  return expiresAt === undefined ? otherwise : expiresAt - performance.now()
}

/** Settles with `work`. After `ms`, calls `onLate` and rejects with DatabaseUnavailable. */
export function within<T>(work: PromiseLike<T>, ms: number, onLate?: () => void): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      onLate?.()
      reject(late(ms))
    }, ms)
    const settle =
      <V>(done: (value: V) => void) =>
      (value: V) => {
        clearTimeout(timer)
        done(value)
      }
    work.then(settle(resolve), settle(reject))
  })
}

export function late(ms: number): DatabaseUnavailable {
  return new DatabaseUnavailable(`The database did not answer within ${Math.max(0, Math.round(ms))} ms.`)
}

const UNAVAILABLE = new Set([
  'DATABASE_UNAVAILABLE',
  // postgres.js
  'CONNECTION_CLOSED',
  'CONNECTION_ENDED',
  'CONNECTION_DESTROYED',
  'CONNECT_TIMEOUT',
  // Node
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  // Postgres: cancelled, shutting down, crashed, starting, database dropped, session timed out, transaction idle or
  // open too long, no slots left
  '57014',
  '57P01',
  '57P02',
  '57P03',
  '57P04',
  '57P05',
  '25P03',
  '25P04',
  '53300',
])

/** Whether an error or one of its causes means that the database is unavailable. */
export function isUnavailable(error: unknown): boolean {
  const failure = withCode(error)
  if (!failure) return false
  if (failure.code === 'ENOENT') return failure.syscall === 'connect' // the socket's file is gone
  // An older server refused a setting of the connection; the next one is opened without it.
  if (failure.code === '42704') return failure.severity === 'FATAL'
  return UNAVAILABLE.has(failure.code) || /^08...$/.test(failure.code)
}

const REFUSED = /unsupported startup parameter(?:.*?: *(\w+))?|unrecognized configuration parameter "(\w+)"/i

/**
 * Poolers such as PgBouncer reject a setting when a connection opens, and so do servers that do not know it.
 * Connections are then opened without it.
 * @returns the setting's name; empty if the error does not contain it
 */
export function refusedSetting(error: unknown): string | undefined {
  const at = rootOf(error)
  const found = at instanceof Error ? REFUSED.exec(at.message) : null
  return found ? (found[1] ?? found[2] ?? '') : undefined
}

/** The innermost cause of an error, without Drizzle's statement and its parameters. */
export function rootOf(error: unknown): unknown {
  let at = error
  while (at instanceof Error && at.cause instanceof Error) at = at.cause
  return at
}

/** The SQLSTATE of a failed statement, such as `23505`, even inside Drizzle's wrapper. */
export function sqlState(error: unknown): string | undefined {
  const code = withCode(error)?.code
  return code !== undefined && /^[0-9A-Z]{5}$/.test(code) && !/^E[A-Z]+$/.test(code) ? code : undefined
}

interface Coded {
  code: string
  syscall?: unknown
  severity?: unknown
}

function withCode(error: unknown): Coded | undefined {
  let at: unknown = error
  for (let depth = 0; depth < 5 && typeof at === 'object' && at !== null; depth++) {
    if ('code' in at && typeof at.code === 'string') return at as Coded
    at = 'cause' in at ? at.cause : undefined
  }
  return undefined
}
