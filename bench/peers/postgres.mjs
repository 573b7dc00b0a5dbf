import postgres from 'postgres'

const base = new URL(`${process.env.BENCH_PG}`)
const directory = `${base.searchParams.get('host')}`

/** Over the server's Unix socket, as Millrace uses its own. @param {string} database */
export function urlOf(database) {
  const url = new URL(base)
  url.pathname = `/${database}`
  return url.href
}

/** Creates the peer's database. After a kill (`KEEP_DB=1`) it stays unchanged. @param {string} database */
export async function freshDatabase(database) {
  const sql = open('postgres')
  if (process.env.KEEP_DB !== '1') await sql.unsafe(`drop database if exists "${database}" with (force)`)
  const [found] = await sql`select 1 from pg_database where datname = ${database}`
  if (!found) await sql.unsafe(`create database "${database}"`)
  await sql.end()
}

/** Two connections for the driver's questions. @param {string} database */
export const open = (database) =>
  postgres({
    host: directory,
    path: `${directory}/.s.PGSQL.5432`,
    username: base.username,
    database,
    max: 2,
    onnotice() {},
  })
