import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { migrate as applyMigrations } from 'drizzle-orm/postgres-js/migrator'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { addMonth, divide, restore, strip } from '@/bench/scale/tables'
import { applyMigrations as applyOurs } from '@/db/apply-migrations'
import { openDatabase } from '@/db/index'
import { migrate } from '@/db/migrate'
import { asAdmin } from '@/db/postgres/probe'
import { openDriver } from '@/db/url'
import { databaseUrl } from '../support/postgres'

const names = ['', '_old', '_busy', '_parts', '_numbers', '_again', '_parts_again'].map(
  (name) => `migrate${name}_${process.pid}`,
)
const { adminUrl } = inject('testServer')
const [url = '', oldUrl = '', busyUrl = '', partsUrl = '', numbersUrl = '', againUrl = '', partsAgainUrl = ''] =
  names.map((name) => databaseUrl(adminUrl, name))

interface Journal {
  entries: { tag: string; when: number }[]
}

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

test('a database of an earlier release keeps its runs and the columns that a process of that release still reads', async () => {
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

test('versions that were published before have numbers in their order, and a process of that release makes the next', async () => {
  const { sql, close } = openDatabase(numbersUrl, { max: 2 })
  const folder = await migrationsBefore('0058_version_number')
  try {
    await migrateTo(numbersUrl, folder)
    for (const tenant of ['ten_1', 'ten_2']) {
      await sql`insert into tenants (id, slug, name) values (${tenant}, ${tenant}, 'One')`
      for (const workflow of ['wf_1', 'wf_2'])
        for (const version of [1, 4, 10, 14])
          await sql`insert into workflow_versions (tenant_id, workflow_id, version, name, definition, created_by, published_at)
            values (${tenant}, ${workflow}, ${version}, 'W', '{}', 'system', case when ${version}::int > 1 then now() end)`
    }
    await sql`update workflow_versions set published_at = null where workflow_id = 'wf_2' and version = 10`
    await migrate(numbersUrl)
    const numbers = async (workflow: string) =>
      (
        await sql`select distinct version, number from workflow_versions where workflow_id = ${workflow} order by version`
      ).map(({ version, number }) => [version, number])
    expect(await numbers('wf_1')).toEqual([
      [1, null],
      [4, 1],
      [10, 2],
      [14, 3],
    ])
    expect(await numbers('wf_2')).toEqual([
      [1, null],
      [4, 1],
      [10, null],
      [14, 2],
    ])
    await sql`insert into workflow_versions (tenant_id, workflow_id, version, name, definition, created_by)
      select id, 'wf_2', 17, 'W', '{}', 'system' from tenants`
    for (let time = 0; time < 2; time++)
      await sql`update workflow_versions set published_at = now() where workflow_id = 'wf_2' and version in (14, 17)`
    expect((await numbers('wf_2')).slice(-2)).toEqual([
      [14, 2],
      [17, 3],
    ])
  } finally {
    await close()
    await rm(folder, { recursive: true })
  }
})

test('a database in use keeps writing while it is migrated, and an index that broke off is built again', async () => {
  const { db, sql, close } = openDatabase(busyUrl, { max: 6 })
  const folder = await migrationsBefore('0034_subjects')
  const target = await migrationsBefore('0038_sweeps')
  const columns = sql.unsafe.bind(sql)
  const migrate = () => migrateTo(busyUrl, target)
  try {
    await applyMigrations(db, { migrationsFolder: folder })
    await sql`insert into tenants (id, slug, name) values ('ten_1', 'one', 'One')`
    await sql`insert into workflow_versions (tenant_id, workflow_id, version, name, definition, created_by)
      values ('ten_1', 'wf_1', 1, 'W', '{}', 'system')`
    await sql`insert into idempotency_keys (tenant_id, scope, key, request_hash, state, owner, leased_until, effects, created_at)
      values ('ten_1', 's', 'k', 'h', 'working', 'o', now(), '[]', now())`
    /** As a start with a key writes: the run, then the key's stored response. */
    const start = (tx: typeof sql, id: string) => tx`
      insert into runs (tenant_id, id, workflow_id, workflow_version, workflow_name, status, input, data, started_by, start_time)
      values ('ten_1', ${id}, 'wf_1', 1, 'W', 'running', '{}', '{}', 'key_1', now())`
    const remember = (tx: typeof sql) => tx`update idempotency_keys set owner = 'o' where key = 'k'`
    await start(sql, 'run_0')
    const waits = async (statement: string) =>
      (
        await columns(`select pid from pg_stat_activity
          where datname = current_database() and application_name = 'millrace-migrate' and state = 'active'
            and wait_event_type = 'Lock' and query ilike '%${statement}%'`)
      )[0]?.pid as number | undefined

    // A start is in progress when a table that it uses is altered, and continues to one that was altered before.
    let migrated = Promise.resolve()
    await sql.begin(async (tx) => {
      await start(tx as never, 'run_1')
      migrated = migrate()
      migrated.catch(() => {})
      await expect.poll(() => waits('ALTER TABLE'), { timeout: 10_000, interval: 20 }).toBeTruthy()
      await remember(tx as never)
      await start(sql, 'run_2')
    })
    await migrated

    // A start is in progress while an index is built, which waits for it; others do not wait.
    await sql`drop index runs_of_subject`
    await sql`delete from drizzle.__drizzle_migrations where created_at >= ${await writtenAt('0037_subject_indexes')}`
    await sql.begin(async (tx) => {
      await start(tx as never, 'run_3')
      migrated = migrate()
      migrated.catch(() => {})
      const building = () => waits('CREATE INDEX CONCURRENTLY "runs_of_subject"')
      await expect.poll(building, { timeout: 10_000, interval: 20 }).toBeTruthy()
      await start(sql, 'run_4')
      await remember(sql)
      await sql`select pg_cancel_backend(${(await building()) ?? 0})`
      await expect(migrated).rejects.toThrow()
    })
    const indexes = () =>
      columns(`
      select indisvalid as valid from pg_index where indexrelid::regclass::text like '%_of_subject' order by 1`)
    expect((await indexes()).map(({ valid }) => valid)).toContain(false)
    await Promise.all([migrate(), migrate()])
    expect((await indexes()).map(({ valid }) => valid)).toEqual([true, true, true])
    expect(await sql`select 1 from runs`).toHaveLength(5)
  } finally {
    await close()
    for (const made of [folder, target]) await rm(made, { recursive: true })
  }
})

test('where a table is partitioned, each partition gets a new index while others write, and one that broke off is built again', async () => {
  const { sql, close } = openDatabase(partsUrl, { max: 4 })
  const folder = await migrationsBefore('0051_index_of_agents')
  const record = (tx: typeof sql, id: string) => tx`
    insert into step_records (tenant_id, run_id, branch, step_id, visit, step_type, step_name, status, start_time, usage)
    values ('ten_1', ${id}, 'main', 'ask', 1, 'call-agent', 'Ask', 'completed', now(), '{"agentId": "agt_1"}')`
  try {
    await migrateTo(partsUrl, folder)
    await divideTables(sql)
    await sql`insert into tenants (id, slug, name) values ('ten_1', 'one', 'One')`
    await sql`insert into workflow_versions (tenant_id, workflow_id, version, name, definition, created_by)
      values ('ten_1', 'wf_1', 1, 'W', '{}', 'system')`
    for (const id of ['run_01A', 'run_02A'])
      await sql`insert into runs (tenant_id, id, workflow_id, workflow_version, workflow_name, status, input, data, started_by, start_time)
        values ('ten_1', ${id}, 'wf_1', 1, 'W', 'running', '{}', '{}', 'key_1', now())`
    await record(sql, 'run_01A')

    // A record is being written while the index of its partition is built, which waits for it; others do not wait.
    let migrated = Promise.resolve()
    await sql.begin(async (tx) => {
      await tx`update step_records set step_name = 'Asked' where run_id = 'run_01A'`
      migrated = migrate(partsUrl)
      migrated.catch(() => {})
      const building = async () =>
        (
          await sql`select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
          and query ilike 'create index concurrently%'`
        )[0]?.pid as number | undefined
      await expect.poll(building, { timeout: 20_000, interval: 20 }).toBeTruthy()
      await record(sql, 'run_02A')
      await sql`select pg_cancel_backend(${(await building()) ?? 0})`
      await expect(migrated).rejects.toThrow()
    })
    await migrate(partsUrl)
    const [found] = await sql`
      select count(*)::int as built, bool_and(i.indisvalid) as valid, bool_and(i.indisready) as ready
      from pg_partition_tree('step_records_of_agents') t join pg_index i on i.indexrelid = t.relid`
    // The table, two months, and two partitions of each.
    expect(found).toEqual({ built: 7, valid: true, ready: true })
    const [left] = await sql`select count(*)::int as n from pg_index where not indisvalid`
    expect(left?.n).toBe(0)
    expect(await sql`select part from runs`).toHaveLength(2)
  } finally {
    await close()
    await rm(folder, { recursive: true })
  }
})

test.each([
  { what: 'one table', url: againUrl, divided: false },
  { what: 'partitions', url: partsAgainUrl, divided: true },
])('an index of $what that a broken-off migration had built stays when it goes on', async (at) => {
  const { sql, close } = openDatabase(at.url, { max: 4 })
  const before = await migrationsBefore('0059_newest_last')
  const breaksOff = await migrationsBefore('0060_newest_last_again')
  /** Of the valid indexes by start or state, old and new. */
  const indexes = async () => {
    const rows = await sql`
      select c.relname as name, c.oid::int as oid from pg_index i join pg_class c on c.oid = i.indexrelid
      where i.indisvalid and i.indrelid = 'runs'::regclass
        and c.relname in ('runs_by_start', 'runs_by_state', 'runs_by_time', 'runs_by_status') order by name`
    return new Map(rows.map(({ name, oid }) => [name as string, oid as number]))
  }
  try {
    await migrateTo(at.url, before)
    if (at.divided) await divideTables(sql)
    expect([...(await indexes()).keys()]).toEqual(['runs_by_start', 'runs_by_state'])
    const file = join(breaksOff, '0059_newest_last.sql')
    const statements = (await readFile(file, 'utf8')).split('--> statement-breakpoint')
    const cut = statements.findIndex((statement) => statement.includes('DROP') && statement.includes('"runs_by_start"'))
    await writeFile(file, [...statements.slice(0, cut + 1), 'select 1 / 0'].join('--> statement-breakpoint'))
    await expect(migrateTo(at.url, breaksOff)).rejects.toThrow('division by zero')
    const built = (await indexes()).get('runs_by_time')
    expect([...(await indexes()).keys()]).toEqual(['runs_by_state', 'runs_by_time'])
    await migrate(at.url)
    expect([...(await indexes()).keys()]).toEqual(['runs_by_status', 'runs_by_time'])
    expect((await indexes()).get('runs_by_time')).toBe(built)
  } finally {
    await close()
    for (const made of [before, breaksOff]) await rm(made, { recursive: true })
  }
})

async function migrateTo(url: string, folder: string): Promise<void> {
  const driver = openDriver(url, { max: 2, connection: { application_name: 'millrace-migrate' } })
  const nothing = async () => {}
  await applyOurs(driver, folder, nothing, nothing).finally(() => driver.end({ timeout: 1 }))
}

/** As docs/scale.md describes, with two months. */
async function divideTables(sql: Parameters<typeof strip>[0]): Promise<void> {
  const defined = await strip(sql)
  await divide(sql)
  for (const n of [1, 2]) await addMonth(sql, { name: `month_${n}`, from: `run_0${n}`, to: `run_0${n + 1}` }, 2)
  await restore(sql, defined)
}

async function writtenAt(tag: string): Promise<number> {
  const journal: Journal = JSON.parse(await readFile('db/migrations/meta/_journal.json', 'utf8'))
  return journal.entries.find((entry) => entry.tag === tag)?.when ?? 0
}

/** A copy of the migrations as they were before one was added. */
async function migrationsBefore(tag: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'migrations-'))
  await cp('db/migrations', folder, { recursive: true })
  const path = join(folder, 'meta/_journal.json')
  const journal: Journal = JSON.parse(await readFile(path, 'utf8'))
  const at = journal.entries.findIndex((entry) => entry.tag === tag)
  await writeFile(path, JSON.stringify({ ...journal, entries: journal.entries.slice(0, at) }))
  return folder
}
