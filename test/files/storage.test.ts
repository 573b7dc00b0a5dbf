import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, test as always, beforeAll, describe, expect, vi } from 'vitest'
import { readS3Url, type S3Place } from '@/lib/s3-url'
import type { FileStorage } from '@/server/files/file-storage'
import { localStorage } from '@/server/files/local-storage'
import { s3Storage } from '@/server/files/s3-storage'
import { vercelBlobStorage } from '@/server/files/vercel-blob-storage'
import { type Call, fakeBlobStore, redirectSdk, TOKEN } from './blob-store'
import { fakeS3, KEY_ID, type S3Call, SECRET, s3Url } from './s3-server'

let folder: string
let server: Server
const blobs = new Map<string, Buffer>()
const calls: Call[] = []
let s3: Server
const objects = new Map<string, Buffer>()
const s3Calls: S3Call[] = []
/** A bucket of a real server, if there is one. */
const REAL_S3 = process.env.TEST_S3_URL ?? ''
const ON_REAL_S3 = 'S3, on the real server that TEST_S3_URL names (skipped without one)'
const placeAt = (url: string) => readS3Url(url) as S3Place
const portOf = (of: Server) => (of.address() as AddressInfo).port
let undo: (() => void) | undefined

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'millrace-storage-'))
  s3 = fakeS3(objects, s3Calls)
  await new Promise<void>((resolve) => s3.listen(0, '127.0.0.1', resolve))
  server = fakeBlobStore(blobs, calls)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  undo = await redirectSdk(`http://127.0.0.1:${portOf(server)}`)
})

afterAll(async () => {
  undo?.()
  s3?.closeAllConnections()
  s3?.close()
  server?.closeAllConnections()
  await new Promise((resolve) => server?.close(resolve))
  rmSync(folder, { recursive: true, force: true })
})

describe.each<[string, () => FileStorage]>([
  ['local', () => localStorage(folder)],
  ['vercel blob', () => vercelBlobStorage(TOKEN)],
  ['S3', () => s3Storage(placeAt(s3Url(portOf(s3))))],
  [ON_REAL_S3, () => s3Storage(placeAt(REAL_S3))],
])('the storage %s', (name, open) => {
  const test = name === ON_REAL_S3 && REAL_S3 === '' ? always.skip : always
  test('returns the stored bytes until they are deleted', async () => {
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

  test('reads a file piece by piece, as far as it is wanted', async () => {
    const storage = open()
    const id = randomUUID()
    const bytes = randomBytes(300_000)
    expect(await storage.read('ten_a', id)).toBeNull()
    await storage.put('ten_a', id, bytes)
    const read = await storage.read('ten_a', id)
    expect(Buffer.from(await new Response(read).arrayBuffer()).equals(bytes)).toBe(true)
    await (await storage.read('ten_a', id))?.cancel()
    await storage.put('ten_a', id, new Uint8Array(0))
    expect((await new Response(await storage.read('ten_a', id)).arrayBuffer()).byteLength).toBe(0)
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
    const before = calls.length + s3Calls.length
    for (const work of [
      () => storage.put(tenant, id, new Uint8Array(1)),
      () => storage.get(tenant, id),
      () => storage.delete(tenant, id),
    ]) {
      await expect(Promise.resolve().then(async () => work())).rejects.toThrow('not a tenant id and a file id')
    }
    expect(calls.length + s3Calls.length).toBe(before)
  })
})

describe('the local folder', () => {
  always('is private to its owner, and shows a file only once it is complete', async () => {
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

  always('a killed put leaves nothing that counts as a file, and delete removes it', async () => {
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
  always('is asked for private blobs under the exact path, with the token', async () => {
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

  always('a refused token is an error, not a missing file', async () => {
    const storage = vercelBlobStorage('vercel_blob_rw_TestStore_wrong')
    await expect(storage.put('ten_a', randomUUID(), Buffer.from('x'))).rejects.toThrow()
    await expect(storage.get('ten_a', randomUUID())).rejects.toThrow()
  })
})

describe('the S3 storage', () => {
  always('keeps a file under its exact path, in the folder of the bucket', async () => {
    const id = randomUUID()
    await s3Storage(placeAt(s3Url(portOf(s3)))).put('ten_a', id, Buffer.from('x'))
    expect([...objects.keys()]).toContain(`/millrace/uploads/ten_a/${id}`)
  })

  always.each([
    ['a refused key', { secret: 'another' }, 'answered 403 SignatureDoesNotMatch'],
    ['a bucket that is missing', { bucket: 'another' }, 'answered 404 NoSuchBucket'],
  ])('%s is an error that says so, not a missing file, and names no key', async (_, wrong, message) => {
    const storage = s3Storage(placeAt(s3Url(portOf(s3), wrong)))
    const id = randomUUID()
    const calls = [storage.put('ten_a', id, Buffer.from('x')), storage.get('ten_a', id), storage.delete('ten_a', id)]
    for (const outcome of await Promise.allSettled(calls)) {
      if (outcome.status === 'fulfilled') throw new Error('it was not refused')
      const told = `${String(outcome.reason)} ${JSON.stringify(outcome.reason)}`
      expect(told).toContain(message)
      for (const secret of [KEY_ID, SECRET]) expect(told).not.toContain(secret)
    }
  })

  always.each<[string, Partial<S3Place> | null]>([
    ['https://k:s%2Fx@s3.eu-central-1.amazonaws.com/b', { region: 'eu-central-1', secretAccessKey: 's/x' }],
    [
      'https://k:s@b.s3.eu-west-2.amazonaws.com/f/',
      { region: 'eu-west-2', url: 'https://b.s3.eu-west-2.amazonaws.com/f' },
    ],
    ['http://k:s@10.0.0.1:9000/b/f?region=auto', { region: 'auto', url: 'http://10.0.0.1:9000/b/f' }],
    ['https://k:s@host.example.com/b', { region: 'us-east-1' }],
    ['https://host.example.com/b', null],
    ['https://k:s@host.example.com/', null],
    ['https://k:s@host.example.com/b?regoin=eu', null],
    ['s3://k:s@host.example.com/b', null],
    ['https://k:%zz@host.example.com/b', null],
  ])('reads %s', (text, expected) => {
    const read = readS3Url(text)
    if (expected === null) expect(read).toBeNull()
    else expect(read).toMatchObject(expected)
  })
})

always.each<[string, () => Server, () => FileStorage]>([
  ['S3', () => s3, () => s3Storage(placeAt(s3Url(portOf(s3))))],
  ['a Vercel Blob store', () => server, () => vercelBlobStorage(TOKEN)],
])('%s that stalls while a file is read is not waited for', async (_, of, open) => {
  const answer = of().listeners('request')[0] as (...args: unknown[]) => void
  of().removeAllListeners('request')
  const gone = new Promise<void>((resolve) => {
    of().on('request', (_request, response) => {
      response.on('close', resolve)
      response.writeHead(200, { 'content-length': '100' }).write('start')
    })
  })
  const reader = (await open().read('ten_a', randomUUID()))?.getReader()
  expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('start')
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const failed = expect(reader?.read()).rejects.toThrow('brought nothing')
  await vi.advanceTimersByTimeAsync(30_000)
  await failed
  vi.useRealTimers()
  // The connection ends too.
  await gone
  of().removeAllListeners('request')
  of().on('request', answer)
})
