import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { drizzle } from 'drizzle-orm/postgres-js'
import { migrate as applyMigrations } from 'drizzle-orm/postgres-js/migrator'
import type postgres from 'postgres'
import { within } from './deadline'
import { openDriver } from './url'

// Any constant works as long as nothing else uses it.
const LOCK = 7_126_431_502
const LIMIT_MS = 120_000

/**
 * Brings the schema up to date. Several processes may call it at once: one applies the migrations and the others wait.
 * The lock and the migrations share one transaction, so a process that dies leaves nothing half done or locked.
 */
export async function migrate(url: string): Promise<void> {
  const migrationsFolder = findMigrations()
  if (!migrationsFolder) return
  const sql = openDriver(url, { max: 2, connection: { application_name: 'millrace-migrate' } })
  try {
    const applied = sql.begin(async (tx) => {
      await tx`select pg_advisory_xact_lock(${LOCK})`
      await applyMigrations(drizzle(insideTransaction(tx)), { migrationsFolder })
    })
    await within(applied, LIMIT_MS)
  } finally {
    await sql.end({ timeout: 1 })
  }
}

/** Drizzle's migrator opens its own transaction. Inside ours, that becomes a savepoint. */
function insideTransaction(tx: postgres.TransactionSql): postgres.Sql {
  const client = { options: { parsers: {}, serializers: {} }, unsafe: tx.unsafe, begin: tx.savepoint }
  return client as unknown as postgres.Sql
}

/** Next to this file or, in a bundle (which has no such location), in the project's folder. */
function findMigrations(): string | undefined {
  const here = import.meta.url.startsWith('file:') ? join(dirname(fileURLToPath(import.meta.url)), 'migrations') : ''
  return [join(process.cwd(), 'db/migrations'), here].find((place) => existsSync(join(place, 'meta/_journal.json')))
}
