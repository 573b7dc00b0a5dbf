import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { FileStorage } from '@/server/files/file-storage'
import { localStorage } from '@/server/files/local-storage'
import { vercelBlobStorage } from '@/server/files/vercel-blob-storage'
import { type Call, fakeBlobStore, ORIGIN, TOKEN } from './blob-store'

let folder: string
let server: Server
const blobs = new Map<string, Buffer>()
const calls: Call[] = []
const DISPATCHER = Symbol.for('undici.globalDispatcher.1')
type Dispatcher = { dispatch(options: { origin?: unknown }, handler: unknown): boolean }
const holder = globalThis as { [DISPATCHER]?: Dispatcher }
let original: Dispatcher | undefined

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'millrace-storage-'))
  server = fakeBlobStore(blobs, calls)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const local = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  process.env.VERCEL_BLOB_API_URL = local
  // The SDK's API address is configurable, but it reads from the store's host; redirect that connection here.
  await fetch(local)
  const dispatcher = holder[DISPATCHER]
  original = dispatcher
  holder[DISPATCHER] = {
    dispatch: (options, handler) =>
      dispatcher?.dispatch(String(options.origin) === ORIGIN ? { ...options, origin: local } : options, handler) ??
      false,
  }
})

afterAll(async () => {
  if (original) holder[DISPATCHER] = original
  delete process.env.VERCEL_BLOB_API_URL
  server?.closeAllConnections()
  await new Promise((resolve) => server?.close(resolve))
  rmSync(folder, { recursive: true, force: true })
})

describe.each<[string, () => FileStorage]>([
  ['local', () => localStorage(folder)],
  ['vercel blob', () => vercelBlobStorage(TOKEN)],
])('the storage %s', (_, open) => {
  test('returns what it was given until it is deleted', async () => {
    const storage = open()
    const id = randomUUID()
    const bytes = randomBytes(200_000)
    expect(await storage.get('ten_a', id)).toBeNull()
    await storage.put('ten_a', id, bytes)
    expect((await storage.get('ten_a', id))?.equals(bytes)).toBe(true)
    expect(await storage.get('ten_b', id)).toBeNull()
    await storage.delete('ten_a', id)
    expect(await storage.get('ten_a', id)).toBeNull()
    await storage.delete('ten_a', id)
  })

  test('stores a part of a larger buffer, and an empty one', async () => {
    const storage = open()
    const [part, empty] = [randomUUID(), randomUUID()]
    await storage.put('ten_a', part, Buffer.from('0123456789').subarray(3, 6))
    await storage.put('ten_a', empty, new Uint8Array(0))
    expect((await storage.get('ten_a', part))?.toString()).toBe('345')
    expect((await storage.get('ten_a', empty))?.byteLength).toBe(0)
  })

  test.each([
    ['ten_a', '../../etc/passwd'],
    ['../ten_a', '00000000-0000-4000-8000-000000000000'],
    ['ten_a', ''],
    ['', '00000000-0000-4000-8000-000000000000'],
    ['ten_a', '00000000-0000-4000-8000-000000000000/..'],
  ])('allows no other place to be named: %j %j', async (tenant, id) => {
    const storage = open()
    const before = calls.length
    for (const work of [
      () => storage.put(tenant, id, new Uint8Array(1)),
      () => storage.get(tenant, id),
      () => storage.delete(tenant, id),
    ]) {
      await expect(Promise.resolve().then(async () => work())).rejects.toThrow('not a tenant id and a file id')
    }
    expect(calls.length).toBe(before)
  })
})

describe('the local folder', () => {
  test('is private to its owner, and shows a file only once it is complete', async () => {
    const storage = localStorage(join(folder, 'private'))
    const id = randomUUID()
    await storage.put('ten_a', id, Buffer.from('x'))
    const place = join(folder, 'private', 'files', 'ten_a')
    expect(readdirSync(place)).toEqual([id])
    expect(readFileSync(join(place, id), 'utf8')).toBe('x')
    if (process.platform !== 'win32') {
      expect(statSync(place).mode & 0o077).toBe(0)
      expect(statSync(join(place, id)).mode & 0o077).toBe(0)
    }
  })

  test('a killed put leaves nothing that counts as a file, and delete removes it', async () => {
    const storage = localStorage(join(folder, 'killed'))
    const [id, other] = [randomUUID(), randomUUID()]
    await storage.put('ten_a', other, Buffer.from('x'))
    writeFileSync(join(folder, 'killed', 'files', 'ten_a', `${id}.part`), 'hal')
    expect(await storage.get('ten_a', id)).toBeNull()
    await storage.delete('ten_a', id)
    expect(readdirSync(join(folder, 'killed', 'files', 'ten_a'))).toEqual([other])
  })
})

describe('the Vercel Blob store', () => {
  test('is asked for private blobs under the exact path, with the token', async () => {
    calls.length = 0
    const id = randomUUID()
    await vercelBlobStorage(TOKEN).put('ten_a', id, Buffer.from('x'))
    expect([...blobs.keys()]).toContain(`files/ten_a/${id}`)
    expect(calls[0]?.headers).toMatchObject({
      authorization: `Bearer ${TOKEN}`,
      'x-vercel-blob-access': 'private',
      'x-add-random-suffix': '0',
      'x-content-type': 'application/octet-stream',
    })
  })

  test('a refused token is an error, not a missing file', async () => {
    const storage = vercelBlobStorage('vercel_blob_rw_TestStore_wrong')
    await expect(storage.put('ten_a', randomUUID(), Buffer.from('x'))).rejects.toThrow()
    await expect(storage.get('ten_a', randomUUID())).rejects.toThrow()
  })
})
