import type { Sql } from 'postgres'

/** The age in milliseconds of the freshest sign of life of any process; null when there has been none. */
export async function readHeartbeatAge(sql: Sql): Promise<number | null> {
  const [row] = await sql<{ age: number | null }[]>`
    select extract(epoch from now() - max(last_seen))::float8 * 1000 as age from engine.workers`
  return row?.age ?? null
}
