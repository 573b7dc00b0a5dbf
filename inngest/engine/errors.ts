/** Whether a failed statement is worth retrying. */
export type FailureKind =
  /** The database is unavailable or busy: wait. */
  | 'unavailable'
  /** Postgres has read the data and will never accept it. */
  | 'refused'
  /** Anything else: a bug in our code or the driver's. */
  | 'fault'

interface Coded extends Error {
  code: string
  syscall?: unknown
  constraint_name?: string
}

/** Error codes of postgres.js, and of a pool that gave up waiting for an answer. */
const UNAVAILABLE = /^(CONNECTION_CLOSED|CONNECTION_ENDED|CONNECTION_DESTROYED|CONNECT_TIMEOUT|DATABASE_UNAVAILABLE)$/
/**
 * Connection lost, deadlock, out of resources, object in use, shutting down, I/O error; read-only during a fail-over; a
 * transaction that was idle or open too long, as after a suspension of this process.
 */
const UNAVAILABLE_STATE = /^(08|40|53|55|57|58)[0-9A-Z]{3}$|^25006$|^25P0[34]$/
/** Bad value, broken constraint, too large. */
const REFUSED_STATE = /^(22|23|54)[0-9A-Z]{3}$/

export function failureKindOf(error: unknown): FailureKind {
  if (!isCoded(error)) return 'fault'
  // Node's own errors of sockets and look-ups name the system call.
  if (UNAVAILABLE.test(error.code) || UNAVAILABLE_STATE.test(error.code) || error.syscall !== undefined)
    return 'unavailable'
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
