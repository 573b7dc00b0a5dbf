import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { files } from '@/db/schema/files'
import { listAudit } from '@/server/audit-log/list'
import type { ServiceContext } from '@/server/context'
import { MultipartInput } from '@/server/http/multipart-input'
import type { Role } from '@/server/roles'
import { startRun } from '@/server/runs/start'
import { getRunStatus } from '@/server/runs/status'
import { invokeTool } from '@/server/tools/invoke'
import { createWorkflow } from '@/server/workflows/lifecycle'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { startTestRuntime, type TestRuntime } from '../support/runtime'
import { readFile } from './read'

let database: FreshDatabase
let runtime: TestRuntime
let dataDir: string

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'millrace-hidden-'))
  database = await freshDatabase()
  runtime = await startTestRuntime(database.url, { DATA_DIR: dataDir })
})
afterAll(async () => {
  await runtime?.stop()
  await database?.close()
  rmSync(dataDir, { recursive: true, force: true })
})

/** A run with a file in a field, and one in a second field that is not sensitive. */
async function sent(sensitive: boolean, steps: object[] = [{ id: 'end', type: 'end-flow' }]) {
  const payload = { passport: { type: 'file', sensitive }, iban: { type: 'string', required: false, sensitive: true } }
  const { id } = await createWorkflow(runtime.ctx, { name: 'Passports', steps, payload } as never)
  const file = { name: 'ada.txt', type: 'text/plain', bytes: Buffer.from('private') }
  const { runId } = await startRun(runtime.ctx, { workflowId: id, body: new MultipartInput(new Map(), file) })
  await runtime.wait(runId)
  const [row] = await database.db.select().from(files).where(eq(files.runId, runId))
  return { fileId: row?.id ?? '', runId }
}

const person = (role: Role): ServiceContext => ({
  ...runtime.ctx,
  actor: { kind: 'user', id: `usr_${role}`, name: role, sessionId: 's', role },
})
const byTool = (ctx: ServiceContext, fileId: string) =>
  invokeTool(ctx, { toolId: 'tool_read_file', body: { args: { fileId } } }, new AbortController().signal)
const entries = async () => (await listAudit(person('admin'), { action: 'run.revealed' })).entries

test('the file of a sensitive field is nobody’s who may not reveal it, whose id nobody is shown either', async () => {
  const { fileId, runId } = await sent(true)
  for (const role of ['viewer', 'operator', 'editor'] as const) {
    await expect(readFile(person(role), { fileId })).rejects.toMatchObject({ code: 'FORBIDDEN' })
    await expect(readFile(person(role), { fileId: fileId.toUpperCase() })).rejects.toMatchObject({
      code: 'FORBIDDEN',
    })
    expect(JSON.stringify(await getRunStatus(person(role), { runId }))).not.toContain(fileId)
  }
  expect(await byTool(person('operator'), fileId)).toMatchObject({ success: false })
  expect(await entries()).toEqual([])
  expect((await readFile(runtime.ctx, { fileId })).bytes.toString()).toBe('private')
  // Nothing is read before: it is not even noticed that the bytes are gone.
  rmSync(join(dataDir, 'files', runtime.ctx.tenantId, fileId))
  await expect(readFile(person('viewer'), { fileId })).rejects.toMatchObject({ code: 'FORBIDDEN' })
  await expect(readFile(runtime.ctx, { fileId })).rejects.toMatchObject({ code: 'FILE_NOT_FOUND' })
})

test('who may reveal it gets it, and the audit log says so', async () => {
  const { fileId, runId } = await sent(true)
  expect((await readFile(person('admin'), { fileId })).bytes.toString()).toBe('private')
  expect(await byTool(person('owner'), fileId)).toMatchObject({ success: true, data: { content: 'private' } })
  const told = { thing: { id: runId }, details: { of: 'file', file: fileId } }
  expect(await entries()).toMatchObject([told, told])
})

test('a file of the same run in a field that is not sensitive is everybody’s', async () => {
  const { fileId } = await sent(false)
  expect((await readFile(person('viewer'), { fileId })).bytes.toString()).toBe('private')
})

test('a file of the run that no field has stays hidden: a sensitive one may have had it', async () => {
  const [{ fileId }, { runId }] = [await sent(true), await sent(true)]
  await database.db.update(files).set({ runId }).where(eq(files.id, fileId))
  await expect(readFile(person('viewer'), { fileId })).rejects.toMatchObject({ code: 'FORBIDDEN' })
})
