import type { PostgresJsDatabase } from 'drizzle-orm/postgres-js'
import type postgres from 'postgres'
import type { Subscriber, Subscription } from './listen'

export type Sql = postgres.Sql
/** `rows` holds the connections for the statements of `sendBatched`. */
export type Db = PostgresJsDatabase<Record<string, never>> & { $client: Sql & { rows: Sql } }
export type Tx = Parameters<Parameters<Db['transaction']>[0]>[0]

/** A connection pool; see `connect`. */
export interface Database {
  /** Raw statements. Timestamps come as Date; a string for a json parameter is taken as JSON text. */
  sql: Sql
  db: Db
  /**
   * Listens on a channel until closed, even after its connection was lost or the pool replaced. Not `sql.listen`, which
   * does not report a lost connection and waits forever on a stalled link. `ready` rejects with DatabaseUnavailable if
   * it does not listen in time; it keeps trying.
   */
  listen(channel: string, subscriber: Subscriber): Subscription
  close(): Promise<void>
}
