import type postgres from 'postgres'

const CREATE = /^(?:--.*\n|\s)*CREATE INDEX CONCURRENTLY "([^"]+)" ON "([^"]+)" (.+?);?\s*$/is
const DROP = /^(?:--.*\n|\s)*DROP INDEX CONCURRENTLY IF EXISTS "([^"]+)"/i

/** The index that a statement creates without locking its table. */
export function createdIndex(statement: string): { name: string; table: string; rest: string } | null {
  const [, name, table, rest] = CREATE.exec(statement) ?? []
  return name === undefined || table === undefined ? null : { name, table, rest: rest ?? '' }
}

/** The index that a statement drops without locking its table. */
export function droppedIndex(statement: string): string | null {
  return DROP.exec(statement)?.[1] ?? null
}

/**
 * Whether a statement can be skipped: an earlier attempt at its migration has already built the index, or the statement
 * would drop that index only to rebuild it. An index never changes under its name, so a valid one is as the migration
 * defines it.
 */
export async function isBuilt(sql: postgres.Sql, statement: string, migration: readonly string[]): Promise<boolean> {
  const name = createdIndex(statement)?.name ?? droppedIndex(statement)
  if (name === null || !migration.some((other) => createdIndex(other)?.name === name)) return false
  return isValid(sql, name)
}

export async function isValid(sql: postgres.Sql, name: string): Promise<boolean> {
  const [found] = await sql`select indisvalid as valid from pg_index where indexrelid = to_regclass(${`"${name}"`})`
  return found?.valid === true
}
