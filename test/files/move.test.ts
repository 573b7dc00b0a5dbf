import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { files } from '@/db/schema/files'
import { type Env, readEnv } from '@/server/env'
import { moveFiles } from '@/server/files/move'
import { holdFileStore } from '@/server/files/shared-store'
import { storageIn } from '@/server/files/storage'
import { fileStore } from '@/server/host/installation'
import { log } from '@/server/log'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { newTenant } from '../support/tenant'
import { fakeS3, type S3Call, s3Url } from './s3-server'

let database: FreshDatabase
let server: Server
let folder: string
let settings: Env
let tenantId: string
const objects = new Map<string, Buffer>()
const calls: S3Call[] = []
beforeAll(async () => {
  database = await freshDatabase()
  server = fakeS3(objects, calls).listen(0, '127.0.0.1')
  await once(server, 'listening')
})
beforeEach(async () => {
  objects.clear()
  folder = mkdtempSync(join(tmpdir(), 'millrace-move-'))
  const { port } = server.address() as AddressInfo
  settings = readEnv({ DATA_DIR: folder, DATABASE_URL: database.url, FILES_S3_URL: s3Url(port) })
  await database.sql`delete from files`
  await database.sql`delete from installation`
  await database.sql`insert into installation (id, file_store) values (true, ${fileStore(settings, 'folder')})`
  tenantId = (await newTenant(database)).tenantId
})
afterAll(async () => {
  server?.closeAllConnections()
  server?.close()
  await database?.close()
  rmSync(folder, { recursive: true, force: true })
})

const FORWARD = { from: 'folder', to: 's3' } as const
const stored = async () => (await database.sql`select file_store from installation`)[0]?.file_store as string
const row = async (id: string, bytes: Buffer, claimed = true, age = '0 s') => {
  const hash = createHash('sha256').update(bytes).digest('hex')
  await database.sql`
    insert into files (tenant_id, id, run_id, name, declared_type, sniffed_type, size, sha256, created_at, claimed_at)
    values (${tenantId}, ${id}, 'run', 'a', 'text/plain', 'text/plain', ${bytes.byteLength}, ${hash},
      now() - ${age}::interval, ${claimed ? new Date() : null})`
}
async function upload(bytes = randomBytes(1_000)) {
  const id = randomUUID()
  await row(id, bytes)
  await storageIn(settings, 'folder').put(tenantId, id, bytes)
  return { id, bytes }
}
const arrived = async ({ id, bytes }: { id: string; bytes: Buffer }) =>
  (await storageIn(settings, 's3').get(tenantId, id))?.equals(bytes) ?? false

test('every file is there afterwards, the old place keeps its own, and the new one is the one that counts', async () => {
  const files = []
  for (let n = 0; n < 30; n++) files.push(await upload(randomBytes(n)))
  expect(await moveFiles(database.db, settings, FORWARD)).toEqual({ copied: 30, there: 0, abandoned: 0, store: 's3' })
  for (const file of files) {
    expect(await arrived(file)).toBe(true)
    expect((await storageIn(settings, 'folder').get(tenantId, file.id))?.equals(file.bytes)).toBe(true)
  }
  expect(await stored()).toBe(fileStore(settings, 's3'))
  expect(await moveFiles(database.db, settings, FORWARD)).toEqual({ copied: 0, there: 0, abandoned: 0, store: 's3' })
  expect(await moveFiles(database.db, settings, { from: 's3', to: 'folder' })).toMatchObject({ there: 30 })
})

test('interrupted, it has changed nothing that counts, and continues with missing or broken files', async () => {
  const files = []
  for (let n = 0; n < 30; n++) files.push(await upload())
  let left = 12
  const cut = server.listeners('request')[0] as (...args: unknown[]) => void
  server.removeAllListeners('request')
  server.on('request', (request, response) => {
    if (request.method === 'PUT' && left-- <= 0) request.socket.destroy()
    else cut(request, response)
  })
  await expect(moveFiles(database.db, settings, FORWARD)).rejects.toThrow()
  server.removeAllListeners('request')
  server.on('request', cut)
  expect(await stored()).toBe(fileStore(settings, 'folder'))
  const [first] = [...objects.keys()]
  objects.set(first as string, Buffer.from('half'))
  const { copied, there } = await moveFiles(database.db, settings, FORWARD)
  expect([copied + there, copied > 0, there > 0]).toEqual([30, true, true])
  for (const file of files) expect(await arrived(file)).toBe(true)
})

test('a file that is missing or damaged where it should be keeps the old place, and is named', async () => {
  const [whole, damaged] = [await upload(), await upload()]
  await storageIn(settings, 'folder').put(tenantId, damaged.id, Buffer.from('other'))
  await expect(moveFiles(database.db, settings, FORWARD)).rejects.toThrow(damaged.id)
  expect(await stored()).toBe(fileStore(settings, 'folder'))
  expect(await arrived(whole)).toBe(true)
  await database.sql`delete from files where id = ${damaged.id}`
  expect(await moveFiles(database.db, settings, FORWARD)).toMatchObject({ there: 1 })
})

test('files uploaded meanwhile are included: it waits for bytes in flight, and none can come later', async () => {
  await upload()
  const late = { id: randomUUID(), bytes: randomBytes(500) }
  await row(late.id, late.bytes, false)
  const moved = moveFiles(database.db, settings, FORWARD)
  await storageIn(settings, 'folder').put(tenantId, late.id, late.bytes)
  await database.sql`update files set claimed_at = now() where id = ${late.id}`
  await moved
  expect(await arrived(late)).toBe(true)
  const old = readEnv({ DATA_DIR: folder, DATABASE_URL: database.url })
  expect(fileStore(old)).not.toBe(await stored())
  // The tests' own process stores files in a folder, as one with the old setting does.
  await expect(database.db.transaction((tx) => holdFileStore(tx, log()))).rejects.toMatchObject({ code: 'UNAVAILABLE' })
})

test('an upload that failed long ago is left to the sweep, and can be claimed by nothing', async () => {
  const id = randomUUID()
  await row(id, Buffer.from('x'), false, '10 minutes')
  await moveFiles(database.db, settings, FORWARD)
  expect(await database.sql`select condemned_at is not null as gone from files`).toEqual([{ gone: true }])
})

test('it takes along uploads that are complete, and ends those that are not', async () => {
  const complete = { id: randomUUID(), bytes: randomBytes(500) }
  const sent = { id: randomUUID(), bytes: randomBytes(500) }
  for (const { id, bytes } of [complete, sent]) {
    await row(id, bytes, false, '10 minutes')
    await storageIn(settings, 'folder').put(tenantId, id, bytes)
  }
  await database.sql`update files set uploaded_by = 'somebody'`
  await database.sql`update files set sha256 = '' where id = ${sent.id}`
  expect(await moveFiles(database.db, settings, FORWARD)).toEqual({ copied: 1, there: 0, abandoned: 1, store: 's3' })
  expect(await arrived(complete)).toBe(true)
  expect(await arrived(sent)).toBe(false)
  expect(await database.sql`select id from files where condemned_at is null`).toEqual([{ id: complete.id }])
})

test('an upload is complete before the move or not at all', async () => {
  const { id, bytes } = { id: randomUUID(), bytes: randomBytes(500) }
  await row(id, bytes, false)
  await storageIn(settings, 'folder').put(tenantId, id, bytes)
  const { sha256 } = (await database.sql`select sha256 from files`)[0] as { sha256: string }
  await database.sql`update files set uploaded_by = 'somebody', sha256 = ''`
  let moved: Promise<{ abandoned: number }> | undefined
  // As `completeUpload` does it, while the move is about to switch.
  await database.db.transaction(async (tx) => {
    await tx.execute(sql`select from installation for share`)
    moved = moveFiles(database.db, settings, FORWARD)
    await sleep(300)
    await tx.update(files).set({ sha256 }).where(eq(files.id, id))
  })
  expect(await moved).toMatchObject({ copied: 1, abandoned: 0 })
  expect(await arrived({ id, bytes })).toBe(true)
})

test('a copy goes with its file, if that is deleted meanwhile', async () => {
  const [kept, gone] = [await upload(), await upload()]
  const put = server.listeners('request')[0] as (...args: unknown[]) => void
  server.removeAllListeners('request')
  server.on('request', async (request, response) => {
    // Once it has been copied and is read back.
    if (request.method === 'GET' && request.url?.includes(gone.id) && objects.size > 0)
      await database.sql`delete from files where id = ${gone.id}`
    put(request, response)
  })
  await moveFiles(database.db, settings, FORWARD)
  server.removeAllListeners('request')
  server.on('request', put)
  expect([...objects.keys()].map((path) => path.split('/').at(-1))).toEqual([kept.id])
})

test('it refuses to move from where the files are not', async () => {
  await upload()
  await database.sql`update installation set file_store = 'folder:another'`
  await expect(moveFiles(database.db, settings, FORWARD)).rejects.toThrow('are not in the folder')
})

test('files larger than a form may have are copied one at a time', async () => {
  const large = []
  for (let n = 0; n < 4; n++) large.push(await upload(randomBytes(4 * 1024 * 1024)))
  await upload()
  let underWay = 0
  let most = 0
  const put = server.listeners('request')[0] as (...args: unknown[]) => void
  server.removeAllListeners('request')
  server.on('request', (request, response) => {
    if (request.method === 'PUT' && Number(request.headers['content-length']) > 10_000) {
      most = Math.max(most, ++underWay)
      response.on('finish', () => {
        underWay -= 1
      })
    }
    put(request, response)
  })
  expect(await moveFiles(database.db, settings, FORWARD)).toMatchObject({ copied: 5 })
  server.removeAllListeners('request')
  server.on('request', put)
  expect(most).toBe(1)
  for (const file of large) expect(await arrived(file)).toBe(true)
})
