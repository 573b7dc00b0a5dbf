import type { Sql } from 'postgres'

/** Milliseconds since any process last sent a heartbeat; null if none ever did. */
export async function readHeartbeatAge(sql: Sql): Promise<number | null> {
  const [row] = await sql<{ age: number | null }[]>`
    select extract(epoch from now() - max(last_seen))::float8 * 1000 as age from engine.workers`
  return row?.age ?? null
}
