import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type postgres from 'postgres'
import { isUnavailable, sqlState } from '../deadline'
import { openDriver } from '../url'

/** Runs statements as the cluster's superuser on a dedicated connection. */
export async function asAdmin<T>(adminUrl: string, work: (sql: postgres.Sql) => Promise<T>): Promise<T> {
  const connection = { application_name: 'millrace-launcher' }
  const sql = openDriver(adminUrl, { max: 2, connect_timeout: 5, fetch_types: false, backoff: () => 0.05, connection })
  try {
    return await work(sql)
  } finally {
    await sql.end({ timeout: 1 })
  }
}

/** `ready` when the server at the URL has this exact cluster open, `starting` when it may soon. */
export async function probe(adminUrl: string, dataDir: string): Promise<'ready' | 'starting' | 'foreign'> {
  try {
    const [row] = await asAdmin(
      adminUrl,
      (sql) => sql<{ id: string }[]>`select system_identifier::text as id from pg_control_system()`,
    )
    return row?.id === systemIdentifier(dataDir) ? 'ready' : 'foreign'
  } catch (error) {
    if (isUnavailable(error)) return 'starting'
    throw error
  }
}

/** The identifier that initdb gave the cluster: the first eight bytes of its control file. */
function systemIdentifier(dataDir: string): string {
  const control = readFileSync(join(dataDir, 'global/pg_control'))
  return control.readBigUInt64LE(0).toString()
}

// Another process does the same concurrently: it took the name or is copying the template.
const RACES = new Set(['42710', '42P04', '23505', '55006'])

/** Creates the application's role, which is not a superuser, and the database it owns. */
export async function ensureDatabase(adminUrl: string, password: string | undefined): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await asAdmin(adminUrl, (sql) => createMissing(sql, password))
    } catch (error) {
      if (!RACES.has(sqlState(error) ?? '') || attempt === 50) throw error
      await sleep(100)
    }
  }
}

async function createMissing(sql: postgres.Sql, password: string | undefined): Promise<void> {
  const [role] = await sql`select 1 from pg_roles where rolname = 'millrace'`
  // Safe to interpolate: the password is our own hexadecimal string, and DDL takes no parameters.
  if (!role) await sql.unsafe(`create role millrace login${password ? ` password '${password}'` : ''}`)
  const [database] = await sql`select 1 from pg_database where datname = 'millrace'`
  if (!database) await sql`create database millrace owner millrace`
}
