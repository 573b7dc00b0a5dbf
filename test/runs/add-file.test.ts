import { afterAll, beforeAll, expect, test } from 'vitest'
import { addFile } from '@/server/runs/add-file'
import { resumeRun } from '@/server/runs/resume'
import { readFile } from '../files/read'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { startTestRuntime, type TestRuntime } from '../support/runtime'

let database: FreshDatabase
let runtime: TestRuntime

beforeAll(async () => {
  database = await freshDatabase()
  runtime = await startTestRuntime(database.url)
})
afterAll(async () => {
  await runtime?.stop()
  await database?.close()
})

const pauseId = 'main:ask#1'
const file = { name: 'a.txt', type: 'text/plain', base64: Buffer.from('hello').toString('base64') }

async function paused(output: object, rules: object = {}): Promise<string> {
  const runId = await runtime.start({ steps: [{ id: 'ask', type: 'collect-inputs', output, ...rules }] })
  await runtime.wait(runId, (run) => run.status === 'paused')
  return runId
}

test('a file for a task belongs to its run, and its id is the answer', async () => {
  const runId = await paused({ paper: { type: 'file' } })
  const { fileId } = await addFile(runtime.ctx, { runId, pauseId, file })
  expect((await readFile(runtime.ctx, { fileId })).bytes.toString()).toBe('hello')
  await resumeRun(runtime.ctx, { runId, body: { type: 'collect_inputs', pauseId, data: { paper: fileId } } })
  await expect(addFile(runtime.ctx, { runId, pauseId, file })).rejects.toMatchObject({ code: 'RUN_NOT_PAUSED' })
})

test('only a task that asks for a file takes one, from a person who may answer it', async () => {
  const runId = await paused({ note: { type: 'string' } })
  await expect(addFile(runtime.ctx, { runId, pauseId, file })).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  const theirs = await paused({ paper: { type: 'file' } }, { assignees: ['user:nobody@example.com'] })
  await expect(addFile(runtime.ctx, { runId: theirs, pauseId, file })).rejects.toMatchObject({ code: 'NOT_ASSIGNED' })
  const actor = { kind: 'user', id: 'usr_v', name: 'Vera', sessionId: 's', role: 'viewer' } as const
  const viewer = { ...runtime.ctx, actor }
  await expect(addFile(viewer, { runId, pauseId, file })).rejects.toMatchObject({ code: 'FORBIDDEN' })
})
