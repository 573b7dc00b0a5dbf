import { connect, type Database } from '@/db/index'
import { EnvError, env } from './env'

/**
 * Beyond every limit that callers set themselves: the server ends what a process left behind that died or hung.
 * Migrations and the command line have pools of their own, without it.
 */
const STATEMENT_MS = 30_000

/** What large answers may take. Their statements read many megabytes. */
export const READ_MS = 10_000
/** At most so many large reads at a time in a process. */
export const READ_PLACES = 2

/** This process's database. @throws EnvError when no DATABASE_URL is set: the launcher sets it for the embedded one. */
export function database(): Database {
  return connect(databaseUrl(), { statementTimeoutMs: STATEMENT_MS })
}

/** The same database through a few connections of their own, so that large reads leave the others to everybody. */
export function readsDatabase(): Database {
  return connect(databaseUrl(), {
    name: 'reads',
    applicationName: 'millrace-reads',
    max: READ_PLACES,
    deadlineMs: READ_MS,
    statementTimeoutMs: READ_MS,
    idleTimeoutS: 60,
  })
}

function databaseUrl(): string {
  const { DATABASE_URL } = env()
  if (!DATABASE_URL)
    throw new EnvError('DATABASE_URL is missing: start the service with `npm start`, which brings its own database.')
  return DATABASE_URL
}
