import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { files } from '@/db/schema/files'
import { runs } from '@/db/schema/runs'
import { beyondReach } from '@/server/auth/reach'
import type { ServiceContext } from '@/server/context'
import type { JsonObject } from '@/server/definition/json'
import { MultipartInput } from '@/server/http/multipart-input'
import { holdAnswer } from '@/server/runs/held/hold'
import { rerunRun } from '@/server/runs/rerun'
import { resumeRun } from '@/server/runs/resume'
import { startRun } from '@/server/runs/start'
import { startAndWait } from '@/server/runs/start-and-wait'
import { createSchedule } from '@/server/schedules/save'
import { invokeTool } from '@/server/tools/invoke'
import { createWorkflow, publishWorkflow } from '@/server/workflows/lifecycle'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { startTestRuntime, type TestRuntime } from '../support/runtime'

let database: FreshDatabase
let runtime: TestRuntime
let dataDir: string
let ada: ServiceContext
let bob: ServiceContext
const ids: Record<'plain' | 'asks', string> = { plain: '', asks: '' }
const payload = { paper: { type: 'file', required: false } }

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'millrace-named-'))
  database = await freshDatabase()
  runtime = await startTestRuntime(database.url, { DATA_DIR: dataDir })
  ids.plain = await published([{ id: 'end', type: 'end-flow', output: { paper: '${paper}' } }])
  ids.asks = await published([{ id: 'ask', type: 'collect-inputs', output: { extra: { type: 'file' } } }])
  ada = subject('ada')
  bob = subject('bob')
})
afterAll(async () => {
  await runtime?.stop()
  await database?.close()
  rmSync(dataDir, { recursive: true, force: true })
})

/** The holder of a token whose secret is limited to each subject's own runs. */
function subject(id: string): ServiceContext {
  const actor = { kind: 'jwt', id, secretId: 'sec_1', role: 'operator' } as const
  return { ...runtime.ctx, actor, reach: { workflowIds: null, agentIds: null, ownRuns: true } }
}

async function published(steps: object[], fields: object = payload): Promise<string> {
  const { id } = await createWorkflow(runtime.ctx, { name: 'Files', steps, payload: fields } as never)
  await publishWorkflow(runtime.ctx, { id })
  return id
}

/** The id of a file of a run that another person started. */
async function upload(ctx: ServiceContext): Promise<{ fileId: string; runId: string }> {
  const file = { name: 'a.txt', type: 'text/plain', bytes: Buffer.from('private') }
  const { runId } = await startRun(ctx, { workflowId: ids.plain, body: new MultipartInput(new Map(), file) })
  await runtime.wait(runId)
  const [row] = await database.db.select().from(files).where(eq(files.runId, runId))
  return { fileId: row?.id ?? '', runId }
}

async function paused(ctx: ServiceContext): Promise<string> {
  const { runId } = await startRun(ctx, { workflowId: ids.asks, body: {} })
  await runtime.wait(runId, ({ status }) => status === 'paused')
  return runId
}

const start = (ctx: ServiceContext, body: JsonObject) => startRun(ctx, { workflowId: ids.plain, body })
const asInput = (name: string, at = name) => ({
  code: 'INVALID_INPUT',
  details: [{ path: at, message: `${name} must be the id of a stored file that you may read` }],
})
const countRuns = () => database.db.$count(runs)

test('a start takes the id of a file within the caller’s reach only, and says no more of others', async () => {
  const theirs = await upload(bob)
  const mine = await upload(ada)
  const before = await countRuns()
  for (const paper of [theirs.fileId, theirs.fileId.toUpperCase(), randomUUID()]) {
    await expect(start(ada, { paper })).rejects.toMatchObject(asInput('paper'))
    const sync = {
      workflowId: ids.plain,
      body: { data: { paper } },
      prefer: null,
      signal: new AbortController().signal,
    }
    const waiting = startAndWait(ada, sync)
    await expect(waiting).rejects.toMatchObject(asInput('paper'))
  }
  expect(await countRuns()).toBe(before)
  const { runId } = await start(ada, { paper: mine.fileId })
  expect((await runtime.wait(runId)).result).toEqual({ paper: mine.fileId })
  // Without limits, the whole workspace is within reach.
  await start(runtime.ctx, { paper: theirs.fileId })
  await expect(start(runtime.ctx, { paper: randomUUID() })).rejects.toMatchObject(asInput('paper'))
})

test('the file of another workspace does not exist', async () => {
  const { fileId } = await upload(runtime.ctx)
  const other = await runtime.as('owner', 'ten_other')
  const { id } = await createWorkflow(other, { name: 'W', steps: [{ id: 'end', type: 'end-flow' }], payload } as never)
  await expect(startRun(other, { workflowId: id, body: { paper: fileId } })).rejects.toMatchObject(asInput('paper'))
})

test('a file cannot be named any more once its run is gone', async () => {
  const { fileId, runId } = await upload(ada)
  const again = await start(ada, { paper: fileId })
  await runtime.wait(again.runId)
  await database.db.update(files).set({ condemnedAt: new Date() }).where(eq(files.runId, runId))
  await expect(start(ada, { paper: fileId })).rejects.toMatchObject(asInput('paper'))
  await expect(rerunRun(ada, { runId: again.runId, body: {} })).rejects.toMatchObject(asInput('paper', 'data.paper'))
})

test('an answer takes the id of a file only within the answering person’s reach', async () => {
  const theirs = await upload(bob)
  const mine = await upload(ada)
  const runId = await paused(ada)
  const body = (extra: string) => ({ type: 'collect_inputs', data: { extra } })
  for (const fileId of [theirs.fileId, randomUUID()]) {
    await expect(resumeRun(ada, { runId, body: body(fileId) })).rejects.toMatchObject(asInput('extra', 'data.extra'))
  }
  const actor = { kind: 'user', id: 'usr_a', name: 'A', sessionId: 's', role: 'operator' } as const
  const held = holdAnswer({ ...runtime.ctx, actor }, { runId, body: body(randomUUID()) })
  await expect(held).rejects.toMatchObject(asInput('extra', 'data.extra'))
  await resumeRun(ada, { runId, body: body(mine.fileId) })
  expect((await runtime.wait(runId)).data).toMatchObject({ extra: mine.fileId })
})

test('a rerun takes new values within the caller’s reach, and keeps the run’s own', async () => {
  const theirs = await upload(bob)
  const mine = await upload(ada)
  const { runId } = await start(ada, { paper: mine.fileId })
  await runtime.wait(runId)
  const rerun = (data: JsonObject) => rerunRun(ada, { runId, body: { data } })
  for (const paper of [theirs.fileId, randomUUID()]) {
    await expect(rerun({ paper })).rejects.toMatchObject(asInput('paper', 'data.paper'))
  }
  const edited = rerunRun(runtime.ctx, { runId, body: { data: { paper: randomUUID() }, fromStepId: 'end' } })
  await expect(edited).rejects.toMatchObject(asInput('paper', 'data.paper'))
  await rerun({ paper: mine.fileId })
  // A run that a system started for a person with a file of another run.
  await database.db.update(files).set({ runId: theirs.runId }).where(eq(files.id, mine.fileId))
  await expect(start(ada, { paper: mine.fileId })).rejects.toMatchObject(asInput('paper'))
  await rerun({ paper: mine.fileId })
  await rerunRun(ada, { runId, body: {} })
})

test('a schedule and a child run take a stored file only', async () => {
  const paper = randomUUID()
  const body = { name: 'Hourly', cron: '0 * * * *', data: { paper } }
  const made = createSchedule(runtime.ctx, { workflowId: ids.plain, body })
  await expect(made).rejects.toMatchObject(asInput('paper', 'data.paper'))
  const config = { workflowId: ids.plain, input: { paper: '${given}' } }
  const parent = await published([{ id: 'call', type: 'run-workflow', ...config }], { given: { type: 'string' } })
  const { runId } = await startRun(runtime.ctx, { workflowId: parent, body: { given: paper } })
  const { error } = await runtime.wait(runId)
  expect(error).toMatchObject({ code: 'INVALID_INPUT' })
  expect(error?.message).toContain('paper must be the id of a stored file')
})

test('an agent reads for a limited caller only data within their reach', async () => {
  const theirs = await upload(bob)
  const read = (ctx: ServiceContext) =>
    invokeTool(
      ctx,
      { toolId: 'tool_read_file', body: { args: { fileId: theirs.fileId } } },
      new AbortController().signal,
    )
  const forAgent = (ctx: ServiceContext) =>
    beyondReach({ ...ctx, actor: { ...ctx.actor, role: 'owner' } as ServiceContext['actor'] })
  expect(await read(forAgent(ada))).toMatchObject({ success: false, error: { message: 'File not found' } })
  expect(await read(forAgent(bob))).toMatchObject({ success: true, data: { content: 'private' } })
})
