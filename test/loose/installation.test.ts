import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { migrate } from '@/db/migrate'
import { type Keyring, readKeyring } from '@/server/crypto'
import { readEnv } from '@/server/env'
import { joinInstallation, resetInstallation } from '@/server/host/installation'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { newTenant } from '../support/tenant'

let database: FreshDatabase
let home: string
beforeAll(async () => {
  database = await freshDatabase()
})
beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'millrace-installation-'))
  await resetInstallation(database.db, { copied: true })
})
afterEach(() => rmSync(home, { recursive: true, force: true }))
afterAll(() => database?.close())

const [A, B] = ['0a'.repeat(32), '0b'.repeat(32)]

/** Starts a process with these settings, as far as its shared database is concerned. */
async function joined(settings: { key?: string; folder?: string; more?: Record<string, string> } = {}): Promise<void> {
  const { key = A, folder = 'one', more = {} } = settings
  const env = readEnv({ ENCRYPTION_KEY: key, DATA_DIR: join(home, folder), DATABASE_URL: database.url, ...more })
  const keys: Keyring = readKeyring(env)
  await joinInstallation(database.sql, env, keys)
}

describe('ENCRYPTION_KEY', () => {
  test('a process with another key is refused, and one with the same key is not', async () => {
    await joined()
    await joined()
    await expect(joined({ key: B })).rejects.toThrow(
      /^ENCRYPTION_KEY is not the key that this database is used with\. /,
    )
    await joined()
  })

  test('a key can be replaced by way of a process that has both', async () => {
    await joined({ key: A })
    await joined({ key: `${B},${A}` })
    await joined({ key: B })
    await expect(joined({ key: A })).rejects.toThrow(/^ENCRYPTION_KEY is not the key/)
  })

  test('nothing of it is stored', async () => {
    await joined()
    expect(JSON.stringify(await database.sql`select * from installation`)).not.toContain(A.slice(0, 8))
  })
})

test('whether mails are written, the process that started last decides', async () => {
  const mail = { SMTP_URL: 'smtp://mail.example.com', MAIL_FROM: 'tasks@example.com' }
  const written: unknown[] = []
  for (const more of [{}, mail, mail, {}]) {
    await joined({ more })
    written.push(...(await database.sql`select mails from installation`))
  }
  expect(written).toEqual([{ mails: false }, { mails: true }, { mails: true }, { mails: false }])
})

describe('the place of files', () => {
  test('another folder is refused once files are stored, and the same folder under another path is not', async () => {
    await joined()
    const { tenantId } = await newTenant(database)
    await database.sql`
      insert into files (tenant_id, id, name, declared_type, sniffed_type, size, sha256, created_at)
      values (${tenantId}, ${crypto.randomUUID()}, 'a.txt', 'text/plain', 'text/plain', 1, '00', now())`
    await expect(joined({ folder: 'two' })).rejects.toThrow(/^The files of this service are stored elsewhere than in /)
    symlinkSync(join(home, 'one'), join(home, 'alias'))
    await joined({ folder: 'alias' })
    await database.sql`delete from files`
    await joined({ folder: 'two' })
  })

  test('another folder is refused while a process is running on the first', async () => {
    await joined()
    await database.sql`
      insert into engine.workers (boot_id, host_id, pid, started_at, last_seen) values ('boot', 'host', 1, now(), now())`
    await expect(joined({ folder: 'two' })).rejects.toThrow(/^The files of this service are stored elsewhere than in /)
    await database.sql`delete from engine.workers`
    await joined({ folder: 'two' })
  })

  test('a Blob store is the same for every process that has its token', async () => {
    const blob = { more: { BLOB_READ_WRITE_TOKEN: 'vercel_blob_rw_StoreId_secret' } }
    await joined(blob)
    await joined({ ...blob, folder: 'two' })
    const token = (await database.sql`select file_store from installation`)[0]?.file_store as string
    expect(token).toMatch(/^blob:[0-9a-f]{16}$/)
  })
})

describe('previews', () => {
  const preview = { more: { VERCEL: '1', VERCEL_ENV: 'preview' } }
  const refusal = /^This is a preview, and DATABASE_URL names a database that calls itself production's\. /

  test("a preview neither migrates nor uses a database that calls itself production's", async () => {
    await migrate(database.url, 'production')
    await expect(migrate(database.url, 'preview')).rejects.toThrow(refusal)
    await expect(joined(preview)).rejects.toThrow(refusal)
    await joined({ more: { VERCEL: '1', VERCEL_ENV: 'production' } })
  })

  test('a reset leaves production its database, unless the database is a copy', async () => {
    await migrate(database.url, 'production')
    await resetInstallation(database.db)
    await expect(migrate(database.url, 'preview')).rejects.toThrow(refusal)
    await resetInstallation(database.db, { copied: true })
    await migrate(database.url, 'preview')
    await joined(preview)
  })

  test('a preview uses a database of its own', async () => {
    await migrate(database.url, 'preview')
    await joined(preview)
  })
})

test('a process that does not migrate itself refuses a database that is older than it', async () => {
  await database.sql`delete from drizzle.__drizzle_migrations where id = (select max(id) from drizzle.__drizzle_migrations)`
  await expect(joined()).rejects.toThrow(/^The database is older than this version\. Run: npm run db:migrate\.$/)
})
