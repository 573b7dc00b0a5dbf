import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { migrate as applyMigrations } from 'drizzle-orm/postgres-js/migrator'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { openDatabase } from '@/db/index'
import { migrate } from '@/db/migrate'
import { asAdmin } from '@/db/postgres/probe'
import { databaseUrl } from '../support/postgres'

const names = [`migrate_${process.pid}`, `migrate_old_${process.pid}`] as const
const { adminUrl } = inject('testServer')
const url = databaseUrl(adminUrl, names[0])
const oldUrl = databaseUrl(adminUrl, names[1])

beforeAll(() =>
  asAdmin(adminUrl, async (admin) => {
    for (const name of names) await admin.unsafe(`create database ${name} owner millrace`)
  }),
)
afterAll(() =>
  asAdmin(adminUrl, async (admin) => {
    for (const name of names) await admin.unsafe(`drop database ${name} with (force)`)
  }),
)

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

test('a database of an earlier release keeps its runs and what a process of that release still reads', async () => {
  const { db, sql, close } = openDatabase(oldUrl, { max: 2 })
  const folder = await migrationsBefore('0008_no_run_epoch')
  try {
    await applyMigrations(db, { migrationsFolder: folder })
    await sql`insert into tenants (id, slug, name) values ('ten_1', 'one', 'One')`
    await sql`insert into workflow_versions (tenant_id, workflow_id, version, name, definition, created_by)
      values ('ten_1', 'wf_1', 1, 'W', '{}', 'system')`
    await sql`insert into runs (tenant_id, id, workflow_id, workflow_version, workflow_name, status, epoch, input, data,
      started_by, start_time) values ('ten_1', 'run_1', 'wf_1', 1, 'W', 'paused', 3, '{"a":1}', '{"a":2}', 'key_1', now())`
    const [before] = await sql`select * from runs`
    await migrate(oldUrl)
    expect(before).toMatchObject({ id: 'run_1', epoch: 3 })
    expect(await sql`select * from runs`).toEqual([expect.objectContaining(before ?? {})])
  } finally {
    await close()
    await rm(folder, { recursive: true })
  }
})

/** A copy of the migrations as they were before one was added. */
async function migrationsBefore(tag: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'migrations-'))
  await cp('db/migrations', folder, { recursive: true })
  const path = join(folder, 'meta/_journal.json')
  const journal: { entries: { tag: string }[] } = JSON.parse(await readFile(path, 'utf8'))
  const at = journal.entries.findIndex((entry) => entry.tag === tag)
  await writeFile(path, JSON.stringify({ ...journal, entries: journal.entries.slice(0, at) }))
  return folder
}
