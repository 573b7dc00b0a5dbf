import type { PostgresJsDatabase } from 'drizzle-orm/postgres-js'
import type postgres from 'postgres'

export type Sql = postgres.Sql
export type Db = PostgresJsDatabase<Record<string, never>>
export type Tx = Parameters<Parameters<Db['transaction']>[0]>[0]

/** A connection pool; see `connect`. */
export interface Database {
  /** Raw statements. Timestamps come as Date; a string for a json parameter is taken as JSON text. */
  sql: Sql
  db: Db
  close(): Promise<void>
}
