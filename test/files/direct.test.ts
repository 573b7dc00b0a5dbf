import { randomBytes, randomUUID } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, rmSync, truncateSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { files } from '@/db/schema/files'
import { type ServiceContext, withTransaction } from '@/server/context'
import { env } from '@/server/env'
import { beginUpload } from '@/server/files/direct/begin'
import { completeUpload } from '@/server/files/direct/complete'
import { ARRIVING_MS, directLimit, OPEN_PER_CALLER, RECEIVING, UPLOAD_MS } from '@/server/files/direct/limits'
import { receiveUpload } from '@/server/files/direct/receive'
import { UPLOAD_TOKEN } from '@/server/files/direct/token'
import { localStorage } from '@/server/files/local-storage'
import { claimFiles } from '@/server/files/stage'
import { sweepFiles } from '@/server/files/sweep'
import { createStartLink } from '@/server/links/start/create'
import { startByLink } from '@/server/links/start/submit'
import { beginLinkUpload, completeLinkUpload } from '@/server/links/start/upload'
import { signStartLink } from '@/server/links/token'
import { addFile } from '@/server/runs/add-file'
import { resumeRun } from '@/server/runs/resume'
import { startRun } from '@/server/runs/start'
import { getRunStatus } from '@/server/runs/status'
import { startWithFiles } from '@/server/runs/with-files'
import { signToken } from '@/server/signed-token'
import { reserveTenantSlot } from '@/server/tenant-slots'
import { openDownload } from '@/server/vault/download-file'
import { createWorkflow, publishWorkflow } from '@/server/workflows/lifecycle'
import { newMember } from '../members/people'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { startTestRuntime, type TestRuntime } from '../support/runtime'
import { outcome } from '../workflows/support'
import { readFile } from './read'

const MIB = 1024 * 1024
let database: FreshDatabase
let runtime: TestRuntime
let ctx: ServiceContext
let dataDir: string
let workflowId: string

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'millrace-direct-'))
  database = await freshDatabase({ max: 20 })
  runtime = await startTestRuntime(database.url, {
    ...{ DATA_DIR: dataDir, ENCRYPTION_KEY: 'ab'.repeat(32), UPLOAD_LIMIT_MB: '12' },
    ...{ RATE_LIMIT_REQUESTS: '0', RATE_LIMIT_STARTS: '0', RATE_LIMIT_FAILURES: '100000' },
  })
  ctx = runtime.ctx
  workflowId = await workflow({ paper: { type: 'file', required: false }, all: LIST })
})
afterAll(async () => {
  await runtime?.stop()
  await database?.close()
  rmSync(dataDir, { recursive: true, force: true })
})

const LIST = { type: 'array', items: { type: 'file' }, required: false }

async function workflow(payload: object, steps: object[] = [{ id: 'end', type: 'end-flow' }]): Promise<string> {
  const { id } = await createWorkflow(ctx, { name: 'Files', payload, steps } as never)
  await publishWorkflow(ctx, { id })
  return id
}

const large = randomBytes(10 * MIB)
const announced = (size = large.byteLength) => ({ name: 'large.bin', type: 'application/x-large', size })
const begin = (by = ctx, size?: number) => beginUpload(by, { body: announced(size), origin: 'https://m.example' })

async function* inChunks(bytes: Uint8Array, every = 256 * 1024): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.byteLength; at += every) yield bytes.subarray(at, at + every)
}

const visitor = (headers: Record<string, string> = {}, inMs = 0) => ({
  ...{ db: runtime.db, log: ctx.log, requestId: 'x', now: () => new Date(Date.now() + inMs) },
  headers: new Headers({ 'x-forwarded-for': '203.0.113.9', ...headers }),
})

interface Sent {
  bytes?: Uint8Array
  headers?: Record<string, string>
  inMs?: number
  chunks?: () => AsyncIterable<Uint8Array>
}
type Begun = Awaited<ReturnType<typeof begin>>
const send = (
  { id, put }: Begun,
  { bytes = large, headers = {}, inMs = 0, chunks = () => inChunks(bytes) }: Sent = {},
) => receiveUpload(visitor({ ...put?.headers, ...headers }, inMs), { fileId: id, chunks })

/** A complete upload of a caller. */
async function uploaded(by = ctx): Promise<string> {
  const begun = await begin(by)
  await send(begun)
  await completeUpload(by, { fileId: begun.id })
  return begun.id
}

const rowOf = async (id: string) => (await runtime.db.select().from(files).where(eq(files.id, id)))[0]
const fileAt = (id: string) => join(dataDir, 'files', ctx.tenantId, id)

describe('an upload', () => {
  test('counts once its bytes are checked, and a start gives it to its run', async () => {
    const begun = await begin()
    expect(begun).toMatchObject({ put: { url: `https://m.example/api/files/${begun.id}/content` }, blob: null })
    expect(await outcome(completeUpload(ctx, { fileId: begun.id }))).toBe('CONFLICT')
    expect(await outcome(startRun(ctx, { workflowId, body: { paper: begun.id } }))).toBe('INVALID_INPUT')
    expect(await send(begun)).toEqual({ id: begun.id, size: large.byteLength })
    expect(await outcome(startRun(ctx, { workflowId, body: { paper: begun.id } }))).toBe('INVALID_INPUT')
    const done = { id: begun.id, name: 'large.bin', type: 'application/octet-stream', size: large.byteLength }
    expect(await completeUpload(ctx, { fileId: begun.id })).toEqual(done)
    expect(await completeUpload(ctx, { fileId: begun.id })).toEqual(done)
    // No run has it yet, so nobody reads it.
    expect(await outcome(readFile(ctx, { fileId: begun.id }))).toBe('FILE_NOT_FOUND')
    const { runId } = await startRun(ctx, { workflowId, body: { paper: begun.id } })
    expect(await rowOf(begun.id)).toMatchObject({ runId, claimedAt: expect.any(Date) })
    expect((await readFile(ctx, { fileId: begun.id })).bytes.equals(large)).toBe(true)
    expect((await getRunStatus(ctx, { runId })).data).toMatchObject({ paper: begun.id })
  })

  test('belongs to one run only, whoever comes first', async () => {
    const [id, another] = [await uploaded(), await uploaded()]
    const form = (part: string, ...ids: string[]) =>
      outcome(
        startWithFiles(ctx, { workflowId, data: {}, files: ids.map((one) => ({ part, file: { uploaded: one } })) }),
      )
    const results = await Promise.all([form('paper', id), form('paper', id), form('all', id, another)])
    const started = results.flatMap((one) => (typeof one === 'object' ? [(one as { runId: string }).runId] : []))
    expect(started).toHaveLength(1)
    expect((await rowOf(id))?.runId).toBe(started[0])
    // A start gets all of its files or none.
    expect((await rowOf(another))?.runId).toBe(typeof results[2] === 'object' ? started[0] : null)
    for (const one of results) if (typeof one === 'string') expect(['CONFLICT', 'INVALID_INPUT']).toContain(one)
  })

  test('that a body names is given to one run, and others may name it as any file of the workspace', async () => {
    const id = await uploaded()
    const start = () => outcome(startRun(ctx, { workflowId, body: { paper: id } }))
    const results = await Promise.all([start(), start(), start()])
    const started = results.flatMap((one) => (typeof one === 'object' ? [(one as { runId: string }).runId] : []))
    expect(started).toContain((await rowOf(id))?.runId)
    for (const one of results) if (typeof one === 'string') expect(one).toBe('CONFLICT')
    expect(await start()).toMatchObject({ runId: expect.any(String) })
    expect(started).toContain((await rowOf(id))?.runId)
  })

  test('cannot be claimed by two runs', async () => {
    const id = await uploaded()
    const claim = (runId: string) => outcome(withTransaction(ctx, (tx) => claimFiles(tx, [id], runId)))
    expect((await Promise.all([claim('run_a'), claim('run_b')])).sort()).toEqual(['CONFLICT', undefined])
    expect(['run_a', 'run_b']).toContain((await rowOf(id))?.runId)
  })

  test('is not completed once the files have moved to another storage', async () => {
    const begun = await begin()
    await send(begun)
    const [noted] = await database.sql`select file_store from installation`
    await database.sql`update installation set file_store = 'folder:another'`
    expect(await outcome(completeUpload(ctx, { fileId: begun.id }))).toBe('UNAVAILABLE')
    expect(await outcome(begin())).toBe('UNAVAILABLE')
    expect(await rowOf(begun.id)).toMatchObject({ sha256: '' })
    await database.sql`update installation set file_store = ${noted?.file_store}`
    expect(await completeUpload(ctx, { fileId: begun.id })).toMatchObject({ id: begun.id })
  })

  test('is the attachment of a form, beside small files', async () => {
    const id = await uploaded()
    const small = { part: 'all', file: { name: 'a.txt', type: 'text/plain', base64: 'aGk=' } }
    const sent = [{ part: 'attachment', file: { uploaded: id } }, small]
    const { runId } = await startWithFiles(ctx, { workflowId, data: {}, files: sent })
    expect((await getRunStatus(ctx, { runId })).data).toMatchObject({
      fileId: id,
      paper: id,
      all: [expect.any(String)],
    })
    expect(await outcome(startWithFiles(ctx, { workflowId, data: {}, files: sent }))).toBe('INVALID_INPUT')
  })

  test('belongs to its caller alone, and to nobody of another workspace', async () => {
    const tess = await newMember(database, ctx, 'operator')
    const viewer = await newMember(database, ctx, 'viewer')
    expect(await outcome(begin(viewer.ctx))).toBe('FORBIDDEN')
    const id = await uploaded(tess.ctx)
    for (const other of [ctx, await runtime.as('owner', 'ten_elsewhere')]) {
      expect(await outcome(completeUpload(other, { fileId: id }))).toBe('FILE_NOT_FOUND')
    }
    expect(await outcome(startRun(ctx, { workflowId, body: { paper: id } }))).toBe('INVALID_INPUT')
    const sent = [{ part: 'paper', file: { uploaded: id } }]
    expect(await outcome(startWithFiles(ctx, { workflowId, data: {}, files: sent }))).toBe('INVALID_INPUT')
    expect(await startWithFiles(tess.ctx, { workflowId, data: {}, files: sent })).toMatchObject({
      runId: expect.any(String),
    })
  })

  test('answers a task, from the page and over REST', async () => {
    const steps = [{ id: 'ask', type: 'collect-inputs', output: { paper: { type: 'file' } } }]
    const id = await workflow({}, steps)
    const waiting = async () => {
      const { runId } = await startRun(ctx, { workflowId: id, body: {} })
      await runtime.wait(runId, ({ status }) => status === 'paused')
      return { runId, pauseId: 'main:ask#1' }
    }
    const byPage = await waiting()
    const upload = await uploaded()
    expect(await addFile(ctx, { ...byPage, file: { uploaded: upload } })).toEqual({ fileId: upload })
    expect(await rowOf(upload)).toMatchObject({ runId: byPage.runId })
    const byRest = await waiting()
    const other = await uploaded()
    const body = { type: 'collect_inputs', data: { paper: other } }
    await resumeRun(ctx, { runId: byRest.runId, body })
    expect(await rowOf(other)).toMatchObject({ runId: byRest.runId })
  })
})

describe('the bytes of an upload', () => {
  test('are taken once, with the token of their own file, while it is young', async () => {
    const [one, two] = [await begin(), await begin()]
    const wrong = async (sent: Sent, of = one) => expect(await outcome(send(of, sent))).toBe('FILE_NOT_FOUND')
    await wrong({ headers: { 'x-upload-token': 'nonsense' } })
    await wrong({ headers: two.put?.headers ?? {} })
    const otherKind = await signStartLink({ tenantId: ctx.tenantId, id: one.id, workflowId })
    await wrong({ headers: { 'x-upload-token': otherKind } })
    const otherTenant = await signToken(UPLOAD_TOKEN, { tenantId: 'ten_elsewhere', id: one.id })
    await wrong({ headers: { 'x-upload-token': otherTenant } })
    expect(await outcome(send(one, { inMs: UPLOAD_MS + 60_000 }))).toBe('FILE_NOT_FOUND')
    const both = await Promise.all([outcome(send(one)), outcome(send(one))])
    expect(both.map((result) => (typeof result === 'object' ? 'stored' : result)).sort()).toEqual([
      'CONFLICT',
      'stored',
    ])
    expect(await outcome(send(one))).toBe('CONFLICT')
    await completeUpload(ctx, { fileId: one.id })
    expect(await outcome(send(one))).toBe('CONFLICT')
  })

  test('stay as they are, whatever comes later', async () => {
    const storage = localStorage(dataDir)
    const id = randomUUID()
    const put = (text: string) => storage.receive?.(ctx.tenantId, id, inChunks(Buffer.from(text)), text.length)
    expect(await put('first')).toBe('stored')
    expect(await put('other')).toBe('taken')
    expect((await storage.get(ctx.tenantId, id))?.toString()).toBe('first')
    expect(readdirSync(join(dataDir, 'files', ctx.tenantId)).filter((name) => name.startsWith(id))).toEqual([id])
  })

  test('have exactly the announced size, and may be sent again after a failure', async () => {
    const begun = await begin()
    for (const bytes of [large.subarray(1), Buffer.concat([large, Buffer.from('x')])]) {
      expect(await outcome(send(begun, { bytes }))).toBe('INVALID_INPUT')
    }
    expect(await outcome(send(begun, { headers: { 'content-length': '7' } }))).toBe('INVALID_INPUT')
    const breaks = async function* () {
      yield large.subarray(0, MIB)
      throw new Error('the caller has left')
    }
    expect(await outcome(send(begun, { chunks: breaks }))).toBe('INVALID_INPUT')
    expect(existsSync(fileAt(begun.id))).toBe(false)
    expect(readdirSync(join(dataDir, 'files', ctx.tenantId)).filter((name) => name.startsWith(begun.id))).toEqual([])
    await send(begun)
    expect(await completeUpload(ctx, { fileId: begun.id })).toMatchObject({ size: large.byteLength })
  })

  test('are read no faster than they are written, and more than the announced size is not read', async () => {
    const begun = await begin()
    let asked = 0
    const endless = async function* () {
      for (;;) {
        asked += 1
        yield Buffer.alloc(MIB)
      }
    }
    expect(await outcome(send(begun, { chunks: endless }))).toBe('INVALID_INPUT')
    expect(asked).toBe(11)
  })

  test('are downloaded as they are read, and a part is never taken for the whole', async () => {
    const id = await uploaded()
    await startRun(ctx, { workflowId, body: { paper: id } })
    const download = async () => {
      const { body } = await openDownload(ctx, { fileId: id })
      expect(body).toBeInstanceOf(ReadableStream)
      return Buffer.from(await new Response(body as ReadableStream).arrayBuffer())
    }
    expect((await download()).equals(large)).toBe(true)
    truncateSync(fileAt(id), large.byteLength - 1)
    await expect(download()).rejects.toThrow()
    rmSync(fileAt(id))
    expect(await outcome(openDownload(ctx, { fileId: id }))).toBe('FILE_NOT_FOUND')
  })

  test('take turns: a workspace has only so many at a time', async () => {
    const held = Array.from({ length: RECEIVING.perTenant }, () => reserveTenantSlot(RECEIVING, ctx.tenantId))
    const begun = await begin()
    expect(await outcome(send(begun))).toBe('UNAVAILABLE')
    for (const release of held) release()
    expect(await send(begun)).toMatchObject({ id: begun.id })
  })
})

test('a file may be as large as the setting says, and a caller has only so many uploads under way', async () => {
  const tess = await newMember(database, ctx, 'operator')
  expect(await outcome(begin(tess.ctx, 12 * MIB + 1))).toBe('FILE_TOO_LARGE')
  const begun = await Promise.all(Array.from({ length: OPEN_PER_CALLER + 3 }, () => outcome(begin(tess.ctx, 12 * MIB))))
  expect(begun.filter((one) => one === 'CONFLICT')).toHaveLength(3)
  const other = await newMember(database, ctx, 'operator')
  expect(await begin(other.ctx)).toMatchObject({ id: expect.any(String) })
})

test('an upload is removed once its bytes cannot be completed any more, and after an hour if no run takes it', async () => {
  const tess = await newMember(database, ctx, 'operator')
  const [never, half, complete] = [await begin(tess.ctx), await begin(tess.ctx), await uploaded(tess.ctx)]
  await send(half)
  const sweep = (inMs: number) => sweepFiles({ db: runtime.db, log: ctx.log, now: () => new Date(Date.now() + inMs) })
  await sweep(UPLOAD_MS)
  for (const id of [never.id, half.id, complete]) expect(await rowOf(id)).toBeDefined()
  await sweep(ARRIVING_MS + 60_000)
  for (const id of [never.id, half.id]) expect(await rowOf(id)).toBeUndefined()
  expect(await rowOf(complete)).toMatchObject({ condemnedAt: null })
  await sweep(61 * 60_000)
  expect(await rowOf(complete)).toBeUndefined()
  for (const id of [half.id, complete]) expect(existsSync(fileAt(id))).toBe(false)
})

describe('through a start link', () => {
  async function link(payload: object) {
    const tess = await newMember(database, ctx, 'operator')
    const id = await workflow(payload)
    const { url } = await createStartLink(tess.ctx, { workflowId: id, body: {}, origin: '' })
    return { token: url.slice(url.indexOf('#') + 1), maker: tess.ctx }
  }
  const startedWith = (token: string, part: string, id: string) =>
    outcome(
      startByLink(visitor(), {
        ...{ token, formId: `form-with-${id}`, data: {} },
        files: [{ part, file: { uploaded: id } }],
      }),
    )

  test('a form uploads a large file for a field that takes one, and sends only its own', async () => {
    const { token, maker } = await link({ paper: { type: 'file' } })
    const begun = await beginLinkUpload(visitor(), { token, body: announced() })
    expect(begun.put?.url).toBe(`/api/files/${begun.id}/content`)
    await send(begun)
    await completeLinkUpload(visitor(), { token, fileId: begun.id })
    expect(await startedWith(token, 'article', begun.id)).toBe('INVALID_INPUT')
    for (const by of [ctx, maker]) expect(await startedWith(token, 'paper', await uploaded(by))).toBe('INVALID_INPUT')
    const { token: other } = await link({ paper: { type: 'file' } })
    expect(await startedWith(other, 'paper', begun.id)).toBe('INVALID_INPUT')
    expect(await startedWith(token, 'paper', begun.id)).toMatchObject({ state: 'started' })
    expect(await rowOf(begun.id)).toMatchObject({ runId: expect.stringMatching(/^run_/) })
  })

  test('a form without such a field, or with a wrong token, uploads nothing', async () => {
    const { token: withoutFile } = await link({ article: { type: 'string' } })
    for (const token of [withoutFile, 'a-guess']) {
      expect(await outcome(beginLinkUpload(visitor(), { token, body: announced() }))).toBe('CONFLICT')
      expect(await outcome(completeLinkUpload(visitor(), { token, fileId: 'x' }))).toBe('CONFLICT')
    }
  })
})

test('only a folder and a Blob store take files directly', () => {
  const limitWith = (more: object) => directLimit({ ...env(), ...more })
  expect(limitWith({})).toBe(12 * MIB)
  expect(limitWith({ BLOB_READ_WRITE_TOKEN: 'vercel_blob_rw_Store_secret', VERCEL: true })).toBe(12 * MIB)
  expect(limitWith({ FILES_S3_URL: 'https://KEY:SECRET@s3.example.com/bucket' })).toBeNull()
  expect(limitWith({ VERCEL: true })).toBeNull()
})
