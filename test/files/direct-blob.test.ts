import { randomBytes } from 'node:crypto'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { put } from '@vercel/blob/client'
import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { files } from '@/db/schema/files'
import { beginUpload } from '@/server/files/direct/begin'
import { completeUpload } from '@/server/files/direct/complete'
import { ARRIVING_MS } from '@/server/files/direct/limits'
import { sweepFiles } from '@/server/files/sweep'
import { startRun } from '@/server/runs/start'
import { createWorkflow } from '@/server/workflows/lifecycle'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { startTestRuntime, type TestRuntime } from '../support/runtime'
import { outcome } from '../workflows/support'
import { type Call, fakeBlobStore, redirectSdk, TOKEN } from './blob-store'

let database: FreshDatabase
let runtime: TestRuntime
let store: Server
let undo: () => void
const blobs = new Map<string, Buffer>()
const calls: Call[] = []

beforeAll(async () => {
  store = fakeBlobStore(blobs, calls)
  await new Promise<void>((resolve) => store.listen(0, '127.0.0.1', resolve))
  undo = await redirectSdk(`http://127.0.0.1:${(store.address() as AddressInfo).port}`)
  database = await freshDatabase()
  runtime = await startTestRuntime(database.url, { BLOB_READ_WRITE_TOKEN: TOKEN, ENCRYPTION_KEY: 'ab'.repeat(32) })
})
afterAll(async () => {
  await runtime?.stop()
  await database?.close()
  undo?.()
  store?.closeAllConnections()
  store?.close()
})

const bytes = randomBytes(6 * 1024 * 1024)
const begin = () =>
  beginUpload(runtime.ctx, {
    body: { name: 'report.bin', type: 'application/x-report', size: bytes.byteLength },
    origin: 'https://m.example',
  })

/** What a browser does with the store's SDK. */
const send = (grant: { pathname: string; token: string } | null, body = bytes, pathname = grant?.pathname ?? '') =>
  put(pathname, body, { access: 'private', token: grant?.token ?? '', contentType: 'application/x-report' })

test('with a Blob store, the sender stores the file there, and it counts once the service has seen it', async () => {
  const { ctx } = runtime
  const { id, put: own, blob } = await begin()
  expect(own).toBeNull()
  expect(blob?.pathname).toBe(`files/${ctx.tenantId}/${id}`)
  expect(blob?.token).not.toContain(TOKEN)
  expect(await outcome(completeUpload(ctx, { fileId: id }))).toBe('CONFLICT')
  await send(blob)
  expect(blobs.get(blob?.pathname ?? '')?.equals(bytes)).toBe(true)
  expect(calls.at(-1)?.headers['x-vercel-blob-access']).toBe('private')
  expect(await completeUpload(ctx, { fileId: id })).toMatchObject({ id, size: bytes.byteLength })
  const workflow = { name: 'W', payload: { paper: { type: 'file' } }, steps: [{ id: 'end', type: 'end-flow' }] }
  const { id: workflowId } = await createWorkflow(ctx, workflow as never)
  const { runId } = await startRun(ctx, { workflowId, body: { paper: id } })
  const [row] = await runtime.db.select().from(files).where(eq(files.id, id))
  expect(row).toMatchObject({ runId })
})

test('a grant is for one file, of at most its size and of its type, once', async () => {
  const [one, two] = [await begin(), await begin()]
  await expect(send(one.blob, bytes, two.blob?.pathname)).rejects.toThrow()
  await expect(send(one.blob, Buffer.concat([bytes, Buffer.from('x')]))).rejects.toThrow()
  const other = { access: 'private', token: one.blob?.token ?? '', contentType: 'text/html' } as const
  await expect(put(one.blob?.pathname ?? '', bytes, other)).rejects.toThrow()
  expect(blobs.has(one.blob?.pathname ?? '')).toBe(false)
  await send(one.blob)
  await expect(send(one.blob)).rejects.toThrow()
})

test('a file that is smaller than announced never counts, and is removed', async () => {
  const { id, blob } = await begin()
  await send(blob, bytes.subarray(1))
  expect(await outcome(completeUpload(runtime.ctx, { fileId: id }))).toBe('INVALID_INPUT')
  expect(await outcome(completeUpload(runtime.ctx, { fileId: id }))).toBe('FILE_NOT_FOUND')
  const sweep = (inMs: number) =>
    sweepFiles({ db: runtime.db, log: runtime.ctx.log, now: () => new Date(Date.now() + inMs) })
  const rows = () => runtime.db.select().from(files).where(eq(files.id, id))
  await sweep(0)
  expect(blobs.has(blob?.pathname ?? '')).toBe(false)
  // The grant still works for a while: what it brings is removed too.
  await send(blob)
  expect(await outcome(completeUpload(runtime.ctx, { fileId: id }))).toBe('FILE_NOT_FOUND')
  expect(await rows()).toHaveLength(1)
  await sweep(ARRIVING_MS + 60_000)
  expect(blobs.has(blob?.pathname ?? '')).toBe(false)
  expect(await rows()).toEqual([])
})
