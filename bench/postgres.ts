import { type EmbeddedPostgres, startEmbeddedPostgres } from '@/db/embedded'
import type { Sql } from '@/db/types'
import { openDriver } from '@/db/url'
import { loop } from './drive'

/**
 * A server's counters for one database since its start. The difference of two readings is the cost of the work in
 * between.
 */
export interface Counters {
  statements: number
  nested: number
  transactions: number
  commits: number
  syncs: number
}

/** Starts the product's own Postgres with its settings, plus `settings` and a counter of statements. */
export async function startCounting(dataDir: string, settings: Record<string, string> = {}): Promise<EmbeddedPostgres> {
  return startEmbeddedPostgres({
    dataDir,
    log: () => {},
    settings: {
      shared_preload_libraries: 'pg_stat_statements',
      'pg_stat_statements.track': 'all',
      'pg_stat_statements.max': '10000',
      ...settings,
    },
  })
}

/** The superuser's connections to a server started by `startCounting`. */
export async function openCounter(adminUrl: string): Promise<Sql> {
  const sql = openDriver(adminUrl, { max: 2 })
  await sql`create extension if not exists pg_stat_statements`
  return sql
}

/**
 * Counts the work of everyone but this superuser. Statements and commits are exact immediately. Each backend reports
 * transactions and syncs at most once a second, at the end of a transaction: see `settle` in `measure.ts`. A commit is
 * a transaction that got a number; one that only reads gets none.
 */
export async function readCounters(sql: Sql, database: string): Promise<Counters> {
  const [row] = await sql<Record<keyof Counters, string>[]>`
    select d.xact_commit as transactions, s.statements, s.nested, w.syncs,
      pg_snapshot_xmax(pg_current_snapshot())::text as commits
    from pg_stat_database d,
      lateral (select coalesce(sum(calls) filter (where toplevel), 0) as statements,
          coalesce(sum(calls) filter (where not toplevel), 0) as nested
        from pg_stat_statements
        where dbid = d.datid and userid <> (select oid from pg_roles where rolname = current_user)) s,
      (select sum(fsyncs) as syncs from pg_stat_io where object = 'wal') w
    where d.datname = ${database}`
  const { statements = 0, nested = 0, transactions = 0, commits = 0, syncs = 0 } = row ?? {}
  return {
    statements: Number(statements),
    nested: Number(nested),
    transactions: Number(transactions),
    commits: Number(commits),
    syncs: Number(syncs),
  }
}

/** The size of a database on disk. */
export async function databaseBytes(sql: Sql, database: string): Promise<number> {
  const [row] = await sql<{ bytes: string }[]>`select pg_database_size(${database}) as bytes`
  return Number(row?.bytes)
}

/**
 * Inserts that Postgres commits in this minute: the limit of disk and processor. Closes its connections, because a
 * backend reports its last statistics when it ends, and they must not count as someone else's.
 */
export async function insertRate(adminUrl: string, callers: number): Promise<{ perSecond: number; ms: number[] }> {
  const sql = openDriver(adminUrl, { max: callers })
  await sql`create table if not exists bench_floor (id bigint generated always as identity primary key, body text)`
  const done = await loop(callers, 1.5, async () => {
    const started = performance.now()
    await sql`insert into bench_floor (body) values ('x')`
    return performance.now() - started
  })
  await sql`truncate bench_floor`
  await sql.end()
  return { perSecond: done.ms.length / done.seconds, ms: done.ms }
}
