import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { files } from '@/db/schema/files'
import { threads } from '@/db/schema/threads'
import { createAgent } from '@/server/agents/lifecycle'
import { createThread } from '@/server/agents/thread'
import type { Actor, ServiceContext } from '@/server/context'
import { cancelUpload } from '@/server/files/direct/cancel'
import { OPEN_PER_CALLER } from '@/server/files/direct/limits'
import { storeForm } from '@/server/files/direct/store'
import { sweepFiles } from '@/server/files/sweep'
import { MultipartInput, type Upload } from '@/server/http/multipart-input'
import { startRun } from '@/server/runs/start'
import { createWorkflow } from '@/server/workflows/lifecycle'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { newTenant } from '../support/tenant'
import { outcome, refusal } from '../workflows/support'
import { readFile } from './read'

const MINUTE = 60_000
const upload = { name: 'a.txt', type: 'text/plain', bytes: Buffer.from('hello') }

let database: FreshDatabase
let ctx: ServiceContext
let other: ServiceContext
let dataDir: string
let agentId: string

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'millrace-store-'))
  vi.stubEnv('DATA_DIR', dataDir)
  database = await freshDatabase()
  ctx = await newTenant(database)
  other = await newTenant(database)
  agentId = (await createAgent(ctx, { name: 'Orders' })).id
})
afterAll(async () => {
  vi.unstubAllEnvs()
  await database?.close()
  rmSync(dataDir, { recursive: true, force: true })
})
beforeEach(() => database.db.delete(files))

const store = (by = ctx, file: Upload | null = upload, named: { part: string; upload: Upload }[] = []) =>
  storeForm(by, new MultipartInput(new Map(), file, named))
const sweep = (later: number) =>
  sweepFiles({ db: database.db, log: ctx.log, now: () => new Date(Date.now() + later * MINUTE) })
const isStored = (id: string) => existsSync(join(dataDir, 'files', ctx.tenantId, id))
const subject = (id: string, more: object = {}): ServiceContext => ({
  ...ctx,
  actor: { kind: 'jwt', id, secretId: 'sec_1', role: 'operator' },
  ...more,
})
const viewer = () =>
  subject('', { actor: { kind: 'user', id: 'usr_a', name: 'A', sessionId: 's', role: 'viewer' } satisfies Actor })

/** A stored file of a thread that this caller has begun. */
async function ofThread(by: ServiceContext): Promise<{ threadId: string; fileId: string }> {
  const { fileId } = await store(by)
  const threadId = await createThread(by, agentId)
  await database.db.update(files).set({ threadId, claimedAt: new Date() }).where(eq(files.id, fileId))
  return { threadId, fileId }
}

test('the file of a form is its caller’s for an hour, and then it is gone', async () => {
  const stored = await store()
  expect(stored).toEqual({ fileId: expect.any(String), name: 'a.txt', type: 'text/plain; charset=utf-8', size: 5 })
  const { fileId } = stored
  // Nothing has it yet, so nobody reads it.
  expect(await outcome(readFile(ctx, { fileId }))).toBe('FILE_NOT_FOUND')
  expect([await sweep(59), isStored(fileId)]).toEqual([{ removed: 0 }, true])
  expect([await sweep(61), isStored(fileId)]).toEqual([{ removed: 1 }, false])
})

test('a run of its caller may have it, and nobody else’s', async () => {
  const steps = [{ id: 'end', type: 'end-flow' }]
  const { id } = await createWorkflow(ctx, { name: 'Files', payload: { paper: { type: 'file' } }, steps } as never)
  const { fileId } = await store()
  const start = (by: ServiceContext) => startRun(by, { workflowId: id, body: { paper: fileId } })
  expect(await outcome(start(subject('ada')))).toBe('INVALID_INPUT')
  const { runId } = await start(ctx)
  expect(await database.db.select({ runId: files.runId }).from(files)).toEqual([{ runId }])
})

test('a form without the file, or with another one, is refused; so is a caller who uploads too many', async () => {
  expect(await refusal(store(ctx, null))).toMatchObject({ code: 'INVALID_INPUT', details: [{ path: 'attachment' }] })
  expect(await refusal(store(ctx, upload, [{ part: 'b', upload }]))).toMatchObject({ details: [{ path: 'b' }] })
  expect(await outcome(store(subject('ada', { actor: { ...ctx.actor, role: 'viewer' } })))).toBe('FORBIDDEN')
  const first = await store(subject('ada'))
  for (let n = 1; n < OPEN_PER_CALLER; n++) await store(subject('ada'))
  expect(await outcome(store(subject('ada')))).toBe('CONFLICT')
  await store(subject('bob'))
  expect(await outcome(cancelUpload(subject('bob'), { fileId: first.fileId }))).toBe('FILE_NOT_FOUND')
  await cancelUpload(subject('ada'), { fileId: first.fileId })
  await store(subject('ada'))
  expect(isStored(first.fileId)).toBe(false)
})

test('a file of a thread is read by those who may read the thread', async () => {
  const adas = await ofThread(subject('ada'))
  const keys = await ofThread(ctx)
  const read = (by: ServiceContext, fileId: string) => outcome(readFile(by, { fileId }).then(() => 'read'))
  const may = async (by: ServiceContext) => [await read(by, adas.fileId), await read(by, keys.fileId)]
  const [yes, no] = ['read', 'FILE_NOT_FOUND']
  expect(await may(ctx)).toEqual([yes, yes])
  expect(await may(viewer())).toEqual([yes, yes])
  expect(await may(subject('ada'))).toEqual([yes, no])
  expect(await may(subject('bob'))).toEqual([no, no])
  expect(await may(other)).toEqual([no, no])
  const reach = { workflowIds: [], agentIds: ['agt_other'], ownRuns: true }
  expect(await may(subject('ada', { reach }))).toEqual([no, no])
  expect(await may(subject('ada', { fileReach: reach }))).toEqual([no, no])
  expect(await may(subject('ada', { reach: { ...reach, agentIds: [agentId] } }))).toEqual([yes, no])
  const run = (id: string, startedVia: string) => ({ ...ctx, actor: { kind: 'system', id, role: 'owner', startedVia } })
  expect(await may(run('ada', 'jwt') as ServiceContext)).toEqual([yes, no])
  expect(await may(run('key_1', 'apiKey') as ServiceContext)).toEqual([no, yes])
  expect(await may(run('key_1', 'jwt') as ServiceContext)).toEqual([no, no])
})

test('a file of a thread stays as long as that, and its bytes go with it', async () => {
  const { fileId, threadId } = await ofThread(subject('ada'))
  expect([await sweep(1000 * 60), isStored(fileId)]).toEqual([{ removed: 0 }, true])
  await database.db.delete(threads).where(eq(threads.id, threadId))
  expect(await outcome(readFile(ctx, { fileId }))).toBe('FILE_NOT_FOUND')
  expect([await sweep(40), isStored(fileId)]).toEqual([{ removed: 1 }, false])
})
