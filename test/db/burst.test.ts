import { afterAll, beforeAll, expect, test } from 'vitest'
import { openDriver } from '@/db/url'
import { type FreshDatabase, freshDatabase } from '../support/db'

let database: FreshDatabase
beforeAll(async () => {
  database = await freshDatabase()
  await database.sql`create table notes (id int primary key, body text)`
})
afterAll(() => database.close())

const CONNECTIONS = 3
/** What the driver sends ahead on a connection. */
const PIPELINE = 100
const BURST = 1_200

/** With the statements that hold the connections, these fill all pipelines except one place, which a `begin` takes. */
const isTransaction = (id: number) => id >= CONNECTIONS * (PIPELINE - 1) && id % 3 === 0

test.each([
  ['small', 10],
  ['large', 60_000],
])('in a burst of %s statements, each transaction has its own connection, and all are committed', async (_, size) => {
  await database.sql`truncate notes`
  const sql = openDriver(`${database.url}`, { max: CONNECTIONS, connection: { application_name: 'burst' } })
  const body = 'x'.repeat(size)
  // Without parameters, which the driver would describe first.
  const insert = (id: number) => `insert into notes values (${id}, '${id % 20 === 0 ? body : 'small'}')`
  const hold = (seconds: number) =>
    Array.from({ length: CONNECTIONS }, () => sql.unsafe(`select pg_sleep(${seconds})`).execute())
  await Promise.all(hold(0.1))
  const held = hold(0.2)
  const settled = await Promise.allSettled([
    ...held,
    ...Array.from({ length: BURST }, (_, id) =>
      isTransaction(id) ? sql.begin((tx) => tx.unsafe(insert(id))) : sql.unsafe(insert(id)).execute(),
    ),
  ])
  expect(settled.filter(({ status }) => status === 'rejected')).toEqual([])
  const [stored] = await database.sql`select count(*)::int as rows from notes`
  const [left] = await database.sql`
    select count(*)::int as open from pg_stat_activity where application_name = 'burst' and state like 'idle in%'`
  expect([stored?.rows, left?.open]).toEqual([BURST, 0])
  await sql.end()
})
