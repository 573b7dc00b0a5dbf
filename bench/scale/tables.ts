import type { Sql } from '@/db/types'

/**
 * The tables that grow with the runs, and the column by which each is divided in time: a run's id begins with the time
 * of its start, and it is part of every key, so no primary or foreign key changes. Not `pauses`: one of its unique
 * indexes lacks the column, which Postgres requires of partitions.
 */
export const DIVIDED = { runs: 'id', step_records: 'run_id', walks: 'run_id' } as const
export type Divided = keyof typeof DIVIDED
const LOADED = [...Object.keys(DIVIDED), 'pauses']

/** A table's constraints, indexes and triggers, as statements that recreate them. */
export interface Defined {
  table: string
  indexes: { name: string; definition: string }[]
  keys: { name: string; definition: string }[]
  rest: string[]
}

/** Drops indexes, keys and triggers of the tables, because loading is several times faster without. */
export async function strip(sql: Sql): Promise<Defined[]> {
  const found: Defined[] = []
  for (const table of LOADED) {
    const keys = await sql<{ name: string; definition: string }[]>`
      select conname as name, pg_get_constraintdef(oid) as definition from pg_constraint
      where conrelid = ${table}::regclass and contype = 'p'`
    const indexes = await sql<{ name: string; definition: string }[]>`
      select c.relname as name, pg_get_indexdef(i.indexrelid) as definition
      from pg_index i join pg_class c on c.oid = i.indexrelid
      where i.indrelid = ${table}::regclass and not i.indisprimary order by 1`
    // Not valid, so that Postgres does not check the rows: they were generated to fit.
    const foreign = await sql<{ of: string; name: string; definition: string }[]>`
      select conrelid::regclass::text as of, conname as name, pg_get_constraintdef(oid) || ' not valid' as definition
      from pg_constraint where contype = 'f' and (conrelid = ${table}::regclass or confrelid = ${table}::regclass)`
    const triggers = await sql<{ name: string; definition: string }[]>`
      select tgname as name, pg_get_triggerdef(oid) as definition from pg_trigger
      where tgrelid = ${table}::regclass and not tgisinternal`
    for (const { of, name } of foreign) await sql.unsafe(`alter table ${of} drop constraint "${name}"`)
    for (const { name } of keys) await sql.unsafe(`alter table ${table} drop constraint "${name}" cascade`)
    for (const { name } of indexes) await sql.unsafe(`drop index "${name}"`)
    for (const { name } of triggers) await sql.unsafe(`drop trigger "${name}" on ${table}`)
    const rest = [
      ...foreign.map(({ of, name, definition }) => `alter table ${of} add constraint "${name}" ${definition}`),
      ...triggers.map(({ definition }) => definition),
    ]
    found.push({ table, indexes, keys, rest })
  }
  return found
}

/** Turns the tables into partitioned ones, without partitions yet. */
export async function divide(sql: Sql): Promise<void> {
  for (const [table, column] of Object.entries(DIVIDED)) {
    await sql.unsafe(`alter table ${table} rename to ${table}_whole`)
    await sql.unsafe(`create table ${table} (like ${table}_whole including defaults including identity)
      partition by range (${column})`)
    await sql.unsafe(`drop table ${table}_whole`)
  }
}

/** Adds a month to each table: a partition in time, divided by tenant. Does nothing for an existing month. */
export async function addMonth(
  sql: Sql,
  month: { name: string; from: string; to: string },
  buckets: number,
): Promise<void> {
  for (const [table] of Object.entries(DIVIDED)) {
    await sql.unsafe(`create table if not exists ${table}_${month.name} partition of ${table}
      for values from ('${month.from}') to ('${month.to}') partition by hash (tenant_id)`)
  }
  for (let bucket = 0; bucket < buckets; bucket++)
    for (const table of Object.keys(DIVIDED)) {
      await sql.unsafe(`create table if not exists ${table}_${month.name}_${bucket} partition of ${table}_${month.name}
        for values with (modulus ${buckets}, remainder ${bucket})`)
    }
}

/** The keys and indexes of a partition, as its table will have them. */
export async function index(sql: Sql, { table, keys, indexes }: Defined, leaf: string): Promise<void> {
  for (const { definition } of keys) await sql.unsafe(`alter table ${table}_${leaf} add ${definition}`)
  for (const { name, definition } of indexes) {
    const own = definition
      .replace(`INDEX ${name} `, `INDEX ${name}_${leaf} `)
      .replace(`ON public.${table} `, `ON public.${table}_${leaf} `)
    await sql.unsafe(own)
  }
}

/** Restores everything. An index that the partitions already have becomes part of their table's. */
export async function restore(sql: Sql, defined: readonly Defined[]): Promise<void> {
  for (const { table, keys, indexes } of defined) {
    for (const { name, definition } of keys)
      await sql.unsafe(`alter table ${table} add constraint "${name}" ${definition}`)
    for (const { definition } of indexes) await sql.unsafe(definition)
  }
  const rest = new Set(defined.flatMap((one) => one.rest))
  for (const statement of rest) await sql.unsafe(statement)
}
