import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { backUp } from '@/cli/backup/back-up'
import { packed } from '@/cli/backup/read-folder'
import { restore } from '@/cli/backup/restore'
import { type Packed, pack, unpack } from '@/cli/backup/tar'
import { claimDataDir } from '@/cli/data-dir'
import { readEnv } from '@/server/env'

let home: string
let dataDir: string
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'millrace-restore-'))
  dataDir = join(home, 'data')
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

const digest = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')
const manifest = { format: 1, madeAt: '2026-01-02T03:04:05.000Z', postgres: '18', holdsKey: true }
const BACKUP: Packed[] = [
  packed('millrace-backup.json', JSON.stringify(manifest)),
  { name: 'postgres' },
  packed('postgres/PG_VERSION', '18\n'),
  packed('postgres/backup_label', 'START WAL LOCATION'),
  { name: 'postgres/pg_notify' },
  packed('files/ten_a/one', 'new upload'.repeat(10_000)),
  packed('encryption.key', 'new key'),
]

async function archive(entries: Packed[]): Promise<Buffer> {
  const parts: Buffer[] = []
  const source = async function* () {
    yield* entries
  }
  for await (const part of pack(source())) parts.push(part)
  return gzipSync(Buffer.concat(parts))
}

async function restored(bytes: Buffer, { force = false, settings = {} } = {}) {
  const from = join(home, 'backup.tgz')
  writeFileSync(from, bytes)
  return restore(readEnv({ DATA_DIR: dataDir, ...settings }), { from, force })
}

/** Every file below a folder with its text. */
function contents(folder: string): Record<string, string> {
  const found = readdirSync(folder, { withFileTypes: true, recursive: true }).filter((entry) => entry.isFile())
  return Object.fromEntries(
    found.map(({ parentPath, name }) => {
      const path = join(parentPath, name)
      return [path.slice(folder.length + 1), readFileSync(path, 'utf8')]
    }),
  )
}

const NEW = {
  'postgres/PG_VERSION': '18\n',
  'postgres/backup_label': 'START WAL LOCATION',
  'files/ten_a/one': 'new upload'.repeat(10_000),
  'encryption.key': 'new key',
}
const OLD = { 'postgres/PG_VERSION': '18\n', 'encryption.key': 'old key', 'host-id': 'old host', 'mine.txt': 'mine' }

function fill(folder: string, files: Record<string, string>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(folder, name, '..'), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
}

describe('a restore', () => {
  test('into no folder makes one that only its owner can read', async () => {
    const outcome = await restored(await archive(BACKUP))
    expect(outcome).toEqual({ dataDir, madeAt: manifest.madeAt, replaced: null, encryptionKey: 'in the backup' })
    expect(contents(dataDir)).toEqual(NEW)
    expect(statSync(join(dataDir, 'postgres/pg_notify')).mode & 0o777).toBe(0o700)
    expect(statSync(join(dataDir, 'encryption.key')).mode & 0o777).toBe(0o600)
  })

  test('replaces a service only on request, and preserves all of it', async () => {
    fill(dataDir, OLD)
    await expect(restored(await archive(BACKUP))).rejects.toThrow(
      /already holds a service \(postgres, encryption\.key, host-id\)\. .* --force/,
    )
    expect(contents(dataDir)).toEqual(OLD)

    const { replaced } = await restored(await archive(BACKUP), { force: true })
    const { 'mine.txt': mine, ...old } = OLD
    expect(contents(replaced ?? '')).toEqual(old)
    rmSync(replaced ?? '', { recursive: true })
    expect(contents(dataDir)).toEqual({ ...NEW, 'mine.txt': mine })
  })

  test.each([true, false])(
    'that was cut off while it replaced things is finished by the next start: %s',
    async (late) => {
      fill(dataDir, late ? { 'mine.txt': 'mine', 'files/ten_a/one': NEW['files/ten_a/one'] } : OLD)
      const { 'files/ten_a/one': _moved, ...rest } = NEW
      fill(join(dataDir, 'restore.new'), late ? rest : NEW)
      writeFileSync(join(dataDir, 'restore.json'), JSON.stringify({ kept: 'replaced-then', cleared: late }))
      if (!late) {
        mkdirSync(join(dataDir, 'replaced-then'))
        renameSync(join(dataDir, 'postgres'), join(dataDir, 'replaced-then/postgres'))
      }
      const { release } = await claimDataDir(dataDir)
      release()
      const { 'mine.txt': _, ...old } = OLD
      if (!late) expect(contents(join(dataDir, 'replaced-then'))).toEqual(old)
      rmSync(join(dataDir, 'replaced-then'), { recursive: true, force: true })
      expect(contents(dataDir)).toEqual({ ...NEW, 'mine.txt': 'mine' })
    },
  )
})

describe('a restore changes nothing and says why when', () => {
  const cases: [string, (whole: Buffer) => Buffer | Promise<Buffer>, RegExp][] = [
    ['the file is something else', () => Buffer.from('hello'), /is not a backup made by this command/],
    ['the file is empty', () => Buffer.alloc(0), /is not a backup made by this command/],
    ['the file is another archive', () => archive([packed('a.txt', 'a')]), /is not a backup made by this command/],
    ['its end is missing', (whole) => whole.subarray(0, whole.length - 20), /is cut short: its end is missing/],
    ['only the sum at its end is missing', (whole) => whole.subarray(0, whole.length - 4), /is cut short/],
    ['the archive in it has no end', (whole) => gzipSync(gunzipSync(whole).subarray(0, -1024)), /is cut short/],
    [
      'a byte of it has changed',
      (whole) => {
        const tar = gunzipSync(whole)
        const wrong = gzipSync(tar, { level: 0 })
        wrong.writeUInt8(wrong.readUInt8(wrong.length - 4_000) ^ 1, wrong.length - 4_000)
        return wrong
      },
      /is damaged/,
    ],
    ['it would write elsewhere', () => archive([...BACKUP, packed('postgres/../../outside', '!')]), /is damaged/],
    ['it holds something unknown', () => archive([...BACKUP, packed('run.lock', '!')]), /is damaged/],
    [
      'it holds no database',
      () => archive(BACKUP.filter(({ name }) => !name.startsWith('postgres'))),
      /is not a backup made by this command/,
    ],
    [
      'it holds the database of another Postgres',
      () => archive([packed('millrace-backup.json', JSON.stringify({ ...manifest, postgres: '15' }))]),
      /holds a database of Postgres 15, and this is Postgres 18\. Restore it with the version of Millrace that made it/,
    ],
    [
      'a later version made it',
      () => archive([packed('millrace-backup.json', JSON.stringify({ ...manifest, format: 2 }))]),
      /was made by a version of Millrace that this one cannot read/,
    ],
  ]
  test.each(cases)('%s', async (_when, make, message) => {
    fill(dataDir, OLD)
    await expect(restored(await make(await archive(BACKUP)), { force: true })).rejects.toThrow(message)
    expect(contents(dataDir)).toEqual(OLD)
    expect(readdirSync(home).sort()).toEqual(['backup.tgz', 'data'])

    rmSync(dataDir, { recursive: true })
    await expect(restored(await make(await archive(BACKUP)))).rejects.toThrow(message)
    expect(readdirSync(home)).toEqual(['backup.tgz'])
  })

  test('there is no such file', async () => {
    const outcome = restore(readEnv({ DATA_DIR: dataDir }), { from: join(home, 'nothing'), force: false })
    await expect(outcome).rejects.toThrow(/^There is no file .*nothing\.$/)
    expect(readdirSync(home)).toEqual([])
  })

  test('a service runs on the folder', async () => {
    const { release } = await claimDataDir(dataDir)
    await expect(restored(await archive(BACKUP))).rejects.toThrow(/Millrace already runs on .* Stop it first/)
    expect(Object.keys(contents(dataDir))).toEqual(['run.lock'])
    release()
  })

  test('the service has its own database, and so does a backup', async () => {
    const settings = { DATABASE_URL: 'postgres://localhost/mine' }
    await expect(restored(await archive(BACKUP), { settings })).rejects.toThrow(/Unset DATABASE_URL/)
    const to = join(home, 'new.tgz')
    await expect(backUp(readEnv({ DATA_DIR: dataDir, ...settings }), { to })).rejects.toThrow(
      /Use your provider's backups or pg_dump/,
    )
    expect(readdirSync(home)).toEqual(['backup.tgz'])
  })
})

test('a backup says that no service runs', async () => {
  const outcome = backUp(readEnv({ DATA_DIR: dataDir }), { to: join(home, 'new.tgz') })
  await expect(outcome).rejects.toThrow(/^No service runs on .*data \(DATA_DIR\)\. Start it/)
  expect(readdirSync(home)).toEqual([])
})

test('an archive returns every name and every size, however its bytes arrive', async () => {
  const names = ['a', `${'d'.repeat(90)}/${'e'.repeat(60)}/${'f'.repeat(90)}`, 'postgres/base/16385/2619_vm', 'é/ü']
  const files = names.flatMap((name) =>
    [0, 1, 511, 512, 513, 100_000].map((size) => ({ name: `${name}-${size}`, content: Buffer.alloc(size, name) })),
  )
  const entries = files.map(({ name, content }) => packed(name, content))
  const bytes = gunzipSync(await archive([{ name: 'folder' }, ...entries]))
  for (const step of [1_000_000, 512, 700]) {
    const chunks = async function* () {
      for (let at = 0; at < bytes.length; at += step) yield bytes.subarray(at, at + step)
    }
    const found: { name: string; bytes?: string }[] = []
    for await (const { name, file } of unpack(chunks())) {
      const parts: Buffer[] = []
      for await (const part of file?.content ?? []) parts.push(part)
      found.push(file ? { name, bytes: digest(Buffer.concat(parts)) } : { name })
    }
    // By digest, because comparing buffers takes `toEqual` seconds.
    expect(found).toEqual([{ name: 'folder' }, ...files.map(({ name, content }) => ({ name, bytes: digest(content) }))])
  }
  await expect(archive([packed('x'.repeat(300), 'a')])).rejects.toThrow(/its name is too long/)
})
