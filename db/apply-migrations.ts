import { setTimeout as sleep } from 'node:timers/promises'
import { type MigrationMeta, readMigrationFiles } from 'drizzle-orm/migrator'
import type postgres from 'postgres'
import { sqlState, within } from './deadline'
import { onPartitions } from './index-of-parts'
import { isBuilt } from './index-statements'

type Tx = postgres.TransactionSql

// Any constant works as long as nothing else uses it.
const LOCK = 7_126_431_502
/** How long a migration may take, with the wait for another process. */
const LIMIT_MS = 120_000
/** How long one outside a transaction may take: an index of a large table. */
const OUTSIDE_LIMIT_MS = 4 * 60 * 60_000
const TURN_MS = 100
/**
 * How long a statement waits for a table. All writers wait behind it meanwhile; then it lets them pass and tries again. Less
 * than what Postgres waits before it looks for a deadlock, so that it is not a writer that fails.
 */
const LOCK_TIMEOUT = '800ms'
const PAUSE_MS = 500
/** Lock timeout, deadlock. */
const AGAIN = new Set(['55P03', '40P01'])

/**
 * The first line of a migration that runs statement by statement, such as for `create index concurrently`. It must be able
 * to run again from its start, because it may break off anywhere. What it has built by then stays: it may have dropped
 * the index that this one replaces.
 */
const OUTSIDE = /^-- outside a transaction\n/

/**
 * Applies what is missing, in order, each migration in a transaction of its own: tables that one has locked do not stay
 * locked while the next one waits for others. It keeps the table that Drizzle's migrator has.
 * @param check before each step
 * @param finish once nothing is missing
 */
export async function applyMigrations(
  sql: postgres.Sql,
  migrationsFolder: string,
  check: (tx: Tx) => Promise<void>,
  finish: (tx: Tx) => Promise<void>,
): Promise<void> {
  const step = (work: (tx: Tx) => Promise<void>, limitMs: number) =>
    within(
      inTurn(sql, async (tx) => {
        await check(tx)
        await work(tx)
      }),
      limitMs,
    )
  await step(createTable, LIMIT_MS)
  const last = await lastApplied(sql)
  for (const migration of readMigrationFiles({ migrationsFolder })) {
    if (migration.folderMillis <= last) continue
    const outside = OUTSIDE.test(migration.sql[0] ?? '')
    const apply = async (tx: Tx) => {
      // Another process may have applied it meanwhile.
      if (migration.folderMillis <= (await lastApplied(tx))) return
      await (outside ? runOutside(sql, tx, migration) : runInside(tx, migration))
      await tx`
        insert into drizzle.__drizzle_migrations (hash, created_at)
        values (${migration.hash}, ${migration.folderMillis})`
    }
    await step(apply, outside ? OUTSIDE_LIMIT_MS : LIMIT_MS)
  }
  await step(finish, LIMIT_MS)
}

/**
 * A transaction while no other process has one. It asks again and again, because a statement that waited would itself be
 * waited for by those that build an index. A process that dies leaves nothing locked.
 */
async function inTurn(sql: postgres.Sql, work: (tx: Tx) => Promise<void>): Promise<void> {
  for (;;) {
    const attempt = sql.begin(async (tx) => {
      const [turn] = await tx`select pg_try_advisory_xact_lock(${LOCK}) as mine`
      if (!turn?.mine) return TURN_MS
      await tx.unsafe(`set local lock_timeout = '${LOCK_TIMEOUT}'`)
      await work(tx)
      return 0
    })
    const pause = await attempt.catch((err: unknown) => {
      if (!AGAIN.has(sqlState(err) ?? '')) throw err
      return PAUSE_MS
    })
    if (pause === 0) return
    await sleep(pause)
  }
}

async function createTable(tx: Tx): Promise<void> {
  const [table] = await tx`select to_regclass('drizzle.__drizzle_migrations') as name`
  if (table?.name !== null) return
  await tx.unsafe('create schema if not exists drizzle')
  await tx.unsafe(
    'create table if not exists drizzle.__drizzle_migrations (id serial primary key, hash text not null, created_at bigint)',
  )
}

async function lastApplied(sql: postgres.Sql | Tx): Promise<number> {
  const [applied] = await sql`select max(created_at)::float8 as at from drizzle.__drizzle_migrations`
  return Number(applied?.at ?? 0)
}

async function runInside(tx: Tx, migration: MigrationMeta): Promise<void> {
  for (const statement of migration.sql) await tx.unsafe(statement)
}

/** Runs on another connection. The transaction only keeps the turn meanwhile. */
async function runOutside(sql: postgres.Sql, tx: Tx, migration: MigrationMeta): Promise<void> {
  // A simple statement also ends the last one's snapshot, for which an index would wait forever.
  await tx.unsafe('set local idle_in_transaction_session_timeout = 0')
  const briefly = (statement: string) =>
    sql.begin(async (own) => {
      await own.unsafe(`set local lock_timeout = '${LOCK_TIMEOUT}'`)
      await own.unsafe(statement)
    })
  for (const statement of migration.sql) {
    if (await isBuilt(sql, statement, migration.sql)) continue
    if (!(await onPartitions(sql, statement, briefly))) await sql.unsafe(statement)
  }
}
