import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type postgres from 'postgres'
import { applyMigrations } from './apply-migrations'
import { openDriver } from './url'

/** The deployment that owns the database. */
export type Deployment = 'production' | 'preview'

/** A preview was given a database marked as production's. */
export class NotThisDatabase extends Error {
  override name = 'NotThisDatabase'
  constructor() {
    super(
      "This is a preview, and DATABASE_URL names a database that calls itself production's. Give previews a database of their own (docs/vercel.md).",
    )
  }
}

/**
 * Brings the schema up to date. Several processes may call it concurrently: one applies the migrations and the others
 * wait.
 * @param deployment marks the database as its own, if known
 * @throws NotThisDatabase
 */
export async function migrate(url: string, deployment: Deployment | null = null): Promise<void> {
  const migrationsFolder = findMigrations()
  if (!migrationsFolder) return
  const sql = openDriver(url, { max: 2, connection: { application_name: 'millrace-migrate' } })
  const mayUse = async (tx: postgres.TransactionSql) => {
    if (deployment === 'preview' && (await isProductions(tx))) throw new NotThisDatabase()
  }
  try {
    await applyMigrations(sql, migrationsFolder, mayUse, async (tx) => {
      if (deployment) await mark(tx, deployment)
    })
  } finally {
    await sql.end({ timeout: 1 })
  }
}

async function isProductions(tx: postgres.TransactionSql): Promise<boolean> {
  const [table] = await tx`select to_regclass('public.installation') as name`
  if (table?.name === null) return false
  const [row] = await tx`select deployment from installation`
  return row?.deployment === 'production'
}

async function mark(tx: postgres.TransactionSql, deployment: Deployment): Promise<void> {
  await tx`
    insert into installation (deployment) values (${deployment})
    on conflict (id) do update set deployment = excluded.deployment`
}

/** Whether all migrations of this release have been applied. */
export async function isMigrated(sql: postgres.Sql): Promise<boolean> {
  const migrationsFolder = findMigrations()
  if (!migrationsFolder) return true
  const journal = JSON.parse(readFileSync(join(migrationsFolder, 'meta/_journal.json'), 'utf8')) as {
    entries: { when: number }[]
  }
  const [table] = await sql`select to_regclass('drizzle.__drizzle_migrations') as name`
  if (table?.name === null) return false
  const [applied] = await sql`select max(created_at)::float8 as at from drizzle.__drizzle_migrations`
  return Number(applied?.at ?? 0) >= Math.max(...journal.entries.map(({ when }) => when))
}

/** Next to this file or, in a bundle (which has no such location), in the project's folder. */
function findMigrations(): string | undefined {
  const here = import.meta.url.startsWith('file:') ? join(dirname(fileURLToPath(import.meta.url)), 'migrations') : ''
  return [join(process.cwd(), 'db/migrations'), here].find((place) => existsSync(join(place, 'meta/_journal.json')))
}
