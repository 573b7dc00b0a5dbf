import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { files } from '@/db/schema/files'
import { runs } from '@/db/schema/runs'
import { type ServiceContext, withTransaction } from '@/server/context'
import { claimFiles, newFileId, withStagedFiles } from '@/server/files/stage'
import { sweepFiles } from '@/server/files/sweep'
import { MultipartInput } from '@/server/http/multipart-input'
import { startRun } from '@/server/runs/start'
import { createWorkflow } from '@/server/workflows/lifecycle'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { newTenant } from '../support/tenant'
import { readFile } from './read'

const HOUR = 60 * 60_000
const upload = { name: 'a.txt', type: 'text/plain', bytes: Buffer.from('hello') }

let database: FreshDatabase
let ctx: ServiceContext
let dataDir: string
let workflowId: string

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'millrace-sweep-'))
  vi.stubEnv('DATA_DIR', dataDir)
  database = await freshDatabase()
  ctx = await newTenant(database)
  const steps = [{ id: 'end', type: 'end-flow', name: 'End' }]
  workflowId = (await createWorkflow(ctx, { name: 'W', initialStep: 'end', steps } as never)).id
})

afterAll(async () => {
  vi.unstubAllEnvs()
  await database?.close()
  rmSync(dataDir, { recursive: true, force: true })
})

beforeEach(async () => {
  await database.db.delete(files)
  rmSync(join(dataDir, 'files'), { recursive: true, force: true })
})

const folder = () => join(dataDir, 'files', ctx.tenantId)
const stored = () => (existsSync(folder()) ? readdirSync(folder()) : [])
const rows = () => database.db.select().from(files)
const sweep = (later = 0) => sweepFiles({ db: database.db, log: ctx.log, now: () => new Date(Date.now() + later) })

async function start(): Promise<{ runId: string; fileId: string }> {
  const { runId } = await startRun(ctx, { workflowId, body: new MultipartInput(new Map(), upload) })
  const [row] = (await rows()).filter((file) => file.runId === runId)
  return { runId, fileId: row?.id ?? '' }
}

/** Leaves the state of a start that died between storing the file and claiming it. */
async function strand(): Promise<string> {
  const fileId = newFileId()
  let release = (): void => {}
  const staged = new Promise<void>((resolve) => {
    void withStagedFiles(ctx, [{ id: fileId, upload }], () => {
      resolve()
      return new Promise<void>((end) => {
        release = end
      })
    })
  })
  await staged
  release()
  return fileId
}

test('a file that belongs to a run stays, however old', async () => {
  const { fileId } = await start()
  expect(await sweep(1000 * HOUR)).toEqual({ removed: 0 })
  expect((await readFile(ctx, { fileId })).bytes.toString()).toBe('hello')
})

test('an unclaimed upload is deleted after an hour, not before', async () => {
  const fileId = await strand()
  expect(stored()).toEqual([fileId])
  expect(await sweep(HOUR - 60_000)).toEqual({ removed: 0 })
  expect(stored()).toEqual([fileId])
  expect(await sweep(HOUR + 60_000)).toEqual({ removed: 1 })
  expect(stored()).toEqual([])
  expect(await rows()).toEqual([])
})

test('nobody can read an unclaimed upload', async () => {
  await expect(readFile(ctx, { fileId: await strand() })).rejects.toMatchObject({ code: 'FILE_NOT_FOUND' })
})

test('files of deleted runs are removed, those of other runs stay', async () => {
  const [gone, kept] = [await start(), await start()]
  await database.db.delete(runs).where(sql`id = ${gone.runId}`)
  expect(await sweep()).toEqual({ removed: 0 })
  expect(await sweep(2 * 60_000)).toEqual({ removed: 1 })
  expect(stored()).toEqual([kept.fileId])
  expect((await rows()).map(({ id }) => id)).toEqual([kept.fileId])
})

test('a swept upload cannot be claimed, and its start creates no run', async () => {
  const fileId = newFileId()
  const before = await database.db.select().from(runs)
  const late = withStagedFiles(ctx, [{ id: fileId, upload }], async () => {
    await sweep(2 * HOUR)
    await withTransaction(ctx, (tx) => claimFiles(tx, [fileId], 'run_x'))
  })
  await expect(late).rejects.toThrow('claim-file')
  expect(await database.db.select().from(runs)).toHaveLength(before.length)
  expect(stored()).toEqual([])
})

test('a claim whose transaction rolls back leaves neither row nor bytes', async () => {
  const fileId = newFileId()
  const failing = withStagedFiles(ctx, [{ id: fileId, upload }], () =>
    withTransaction(ctx, async (tx) => {
      await claimFiles(tx, [fileId], 'run_x')
      throw new Error('rolled back')
    }),
  )
  await expect(failing).rejects.toThrow('rolled back')
  expect(await rows()).toEqual([])
  expect(stored()).toEqual([])
})

test('an error after the commit does not take the file from its run', async () => {
  const fileId = newFileId()
  const { runId } = await start()
  const lost = withStagedFiles(ctx, [{ id: fileId, upload }], async () => {
    await withTransaction(ctx, (tx) => claimFiles(tx, [fileId], runId))
    throw new Error('the answer was lost')
  })
  await expect(lost).rejects.toThrow('the answer was lost')
  expect((await readFile(ctx, { fileId })).bytes.toString()).toBe('hello')
})

test('one sweep removes all that it may, and those that must stay for a while do not hold it up', async () => {
  await strand()
  const [row] = await rows()
  const copies = (count: number, fields: Partial<typeof files.$inferInsert>) =>
    database.db
      .insert(files)
      .values(
        Array.from({ length: count }, () => ({ ...(row as typeof files.$inferInsert), id: randomUUID(), ...fields })),
      )
  await copies(250, {
    uploadedBy: 'a',
    condemnedAt: new Date(Date.now() + 2 * HOUR - 1_000),
    createdAt: new Date(Date.now() + 2 * HOUR),
  })
  await copies(450, { createdAt: new Date(0) })
  expect(await sweep(2 * HOUR)).toEqual({ removed: 451 })
  expect(await rows()).toHaveLength(250)
})

test('a file that cannot be removed does not block the others, and a later sweep removes it', async () => {
  const stuck = randomUUID()
  const fileId = await strand()
  const [row] = await rows()
  // A folder in place of the file.
  mkdirSync(join(folder(), stuck))
  writeFileSync(join(folder(), stuck, 'x'), '')
  await database.db.insert(files).values({ ...(row as typeof files.$inferInsert), id: stuck, createdAt: new Date(0) })
  expect(await sweep(2 * HOUR)).toEqual({ removed: 1 })
  expect(stored()).toEqual([stuck])
  expect((await rows()).map(({ id }) => id)).toEqual([stuck])
  rmSync(join(folder(), stuck), { recursive: true })
  expect(await sweep(2 * HOUR)).toEqual({ removed: 1 })
  expect(await rows()).toEqual([])
  expect(fileId).not.toBe(stuck)
})

test('simultaneous sweeps do not disturb each other', async () => {
  await Promise.all(Array.from({ length: 10 }, strand))
  const owned = await start()
  await Promise.all([sweep(2 * HOUR), sweep(2 * HOUR), sweep(2 * HOUR)])
  await sweep(2 * HOUR)
  expect(stored()).toEqual([owned.fileId])
})

test('a start killed between storing and claiming leaves only files that the sweep removes', async () => {
  // The service may run under another account than the test server.
  chmodSync(dataDir, 0o755)
  const before = (await database.db.select().from(runs)).length
  let child: ChildProcess | undefined
  await database.sql.begin(async (tx) => {
    await tx`lock table runs in exclusive mode`
    const running = spawn(
      process.execPath,
      ['--conditions=react-server', '--import', 'tsx', 'test/files/killed-start.ts', ctx.tenantId, workflowId],
      { env: { ...process.env, DATABASE_URL: database.url, DATA_DIR: dataDir, LOG_LEVEL: 'fatal' }, stdio: 'inherit' },
    )
    child = running
    const exited = new Promise((resolve) => running.on('exit', (_, signal) => resolve(signal)))
    while (stored().filter((name) => !name.endsWith('.part')).length === 0) {
      if (running.exitCode !== null) throw new Error('The start never stored its file.')
      await sleep(20)
    }
    running.kill('SIGKILL')
    expect(await exited).toBe('SIGKILL')
  })
  child?.kill('SIGKILL')
  expect((await database.db.select().from(runs)).length).toBe(before)
  const [row, ...more] = await rows()
  expect(more).toEqual([])
  expect(row).toMatchObject({ runId: null, claimedAt: null, condemnedAt: null })
  expect(stored()).toEqual([row?.id])
  expect(await sweep(2 * HOUR)).toEqual({ removed: 1 })
  expect(await rows()).toEqual([])
  expect(stored()).toEqual([])
})
