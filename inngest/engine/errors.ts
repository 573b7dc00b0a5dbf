/** Whether a failed statement is worth retrying. */
export type Trouble =
  /** The database is away or busy: wait. */
  | 'away'
  /** Postgres has read the data and will never accept it. */
  | 'refused'
  /** Anything else: a bug in our code or the driver's. */
  | 'fault'

interface Coded extends Error {
  code: string
  syscall?: unknown
  constraint_name?: string
}

/** Error codes of postgres.js, and of a pool that gives up waiting for an answer. */
const AWAY = /^(CONNECTION_CLOSED|CONNECTION_ENDED|CONNECTION_DESTROYED|CONNECT_TIMEOUT|DATABASE_UNAVAILABLE)$/
/**
 * Connection lost, deadlock, out of resources, object in use, shutting down, I/O error; read-only during a fail-over; idle
 * in a transaction, or in it, for too long, as after this process stood still.
 */
const AWAY_STATE = /^(08|40|53|55|57|58)[0-9A-Z]{3}$|^25006$|^25P0[34]$/
/** Bad value, broken constraint, too large. */
const REFUSED_STATE = /^(22|23|54)[0-9A-Z]{3}$/

export function troubleOf(error: unknown): Trouble {
  if (!isCoded(error)) return 'fault'
  // Node's own errors of sockets and look-ups name the system call.
  if (AWAY.test(error.code) || AWAY_STATE.test(error.code) || error.syscall !== undefined) return 'away'
  return REFUSED_STATE.test(error.code) ? 'refused' : 'fault'
}

export function violates(error: unknown, constraint: string): boolean {
  return isCoded(error) && error.constraint_name === constraint
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function isCoded(error: unknown): error is Coded {
  return error instanceof Error && 'code' in error && typeof error.code === 'string'
}
