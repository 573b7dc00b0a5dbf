import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { openDatabase } from '@/db/index'
import { migrate } from '@/db/migrate'
import { asAdmin } from '@/db/postgres/probe'
import { databaseUrl } from '../support/postgres'

const name = `migrate_${process.pid}`
const { adminUrl } = inject('testServer')
const url = databaseUrl(adminUrl, name)

beforeAll(() => asAdmin(adminUrl, (admin) => admin.unsafe(`create database ${name} owner millrace`)))
afterAll(() => asAdmin(adminUrl, (admin) => admin.unsafe(`drop database ${name} with (force)`)))

async function state() {
  const { sql, close } = openDatabase(url, { max: 2 })
  const [tables] =
    await sql`select count(*)::int as n from information_schema.tables where table_schema in ('public', 'engine')`
  const applied = await sql`select hash from drizzle.__drizzle_migrations order by id`
  await close()
  return { tables: tables?.n as number, applied: applied.map(({ hash }) => hash as string) }
}

test('processes that start at the same moment migrate once, and a later one changes nothing', async () => {
  await Promise.all([1, 2, 3, 4].map(() => migrate(url)))
  const first = await state()
  expect(first.tables).toBeGreaterThan(10)
  expect(new Set(first.applied).size).toBe(first.applied.length)
  await migrate(url)
  expect(await state()).toEqual(first)
})
