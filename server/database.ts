import { connect, type Database } from '@/db/index'
import { processWide } from '@/db/process-wide'
import { EnvError, env } from './env'

/**
 * Longer than any limit callers set themselves: the server ends statements left behind by a process that died or hung.
 * Migrations and the command line use their own pools, without this limit.
 */
const STATEMENT_MS = 30_000

/** Time limit for large responses, whose statements read many megabytes. */
export const READ_MS = 10_000
/** How many large reads a process runs concurrently. */
export const READ_SLOTS = 2

/**
 * This process's database.
 * @throws EnvError when DATABASE_URL is not set; the launcher sets it for the embedded database
 */
export function database(): Database {
  const { poolMax, directUrl, VERCEL } = env()
  return connect(databaseUrl(), {
    max: poolMax,
    statementTimeoutMs: STATEMENT_MS,
    listenUrl: directUrl,
    // A suspended function leaves its connections open, and the server has only a few.
    ...(VERCEL ? { idleTimeoutS: 20 } : {}),
  })
}

/** The same database through a few separate connections, so large reads do not block everything else. */
export function readsDatabase(): Database {
  return connect(databaseUrl(), {
    name: 'reads',
    applicationName: 'millrace-reads',
    max: READ_SLOTS,
    deadlineMs: READ_MS,
    statementTimeoutMs: READ_MS,
    idleTimeoutS: 60,
  })
}

const given = () => processWide<{ url?: string }>('database.url', () => ({}))

/** For a command, which finds the database of the service beside it. */
export function setDatabaseUrl(url: string): void {
  given().url = url
}

function databaseUrl(): string {
  const { DATABASE_URL = given().url } = env()
  if (!DATABASE_URL)
    throw new EnvError('DATABASE_URL is missing: start the service with `npm start`, which starts its own database.')
  return DATABASE_URL
}
