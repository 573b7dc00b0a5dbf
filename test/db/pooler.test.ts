import { afterAll, beforeAll, expect, test } from 'vitest'
import { openDatabase } from '@/db/index'
import { checkPreparing } from '@/db/pooler'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { type Pooler, startPooler } from '../support/pooler'

let database: FreshDatabase
const poolers: Pooler[] = []
beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(async () => {
  for (const pooler of poolers) await pooler.close()
  await database?.close()
})

async function pooler(): Promise<string> {
  const started = await startPooler(database.url)
  poolers.push(started)
  return started.url
}

/** How many of many statements fail, some in transactions, if each gets another connection of the server. */
async function rejected(url: string, deadlineMs: number): Promise<number> {
  const { sql, close } = openDatabase(url, { max: 6, deadlineMs })
  const rounds = Array.from({ length: 30 }, (_, i) => i)
  const settled = await Promise.allSettled(
    rounds.map((i) =>
      i % 3 === 0 ? sql.begin((tx) => tx`select ${i}::int as n, pg_sleep(0.002)`) : sql`select ${i}::int as n`,
    ),
  )
  await close()
  return settled.filter(({ status }) => status === 'rejected').length
}

test('a pooler that loses prepared statements is noticed, and every statement is then answered without them', async () => {
  expect(await rejected(await pooler(), 1_000)).toBeGreaterThan(0)
  const url = await pooler()
  expect(await checkPreparing(url)).toBe(false)
  expect(await rejected(url, 60_000)).toBe(0)
})

test('a server without a pooler keeps its prepared statements', async () => {
  expect(await checkPreparing(database.url)).toBe(true)
})
