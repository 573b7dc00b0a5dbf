import { afterAll, beforeAll, expect, test } from 'vitest'
import { readFirstTask } from '@/server/views/tasks/first'
import { newMember } from '../members/people'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { startTestRuntime, type TestRuntime } from '../support/runtime'
import { outcome } from '../workflows/support'

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

const never = new AbortController().signal
const ask = (more: object = {}) => ({
  steps: [{ id: 'ask', type: 'collect-inputs', title: 'Which one?', output: { n: { type: 'number' } }, ...more }],
})

test('the first task of a run that has just been started is found without waiting for a later look', async () => {
  const { ctx, email } = await newMember(database, runtime.ctx, 'operator')
  for (const more of [{}, { assignees: [`user:${email}`] }, { assignees: ['role:operator'] }]) {
    const runId = await runtime.start(ask(more))
    expect(await readFirstTask(ctx, { runId }, never)).toEqual({ runId, pauseId: 'main:ask#1', title: 'Which one?' })
  }
})

test('there is none for other people, for viewers, and once the run has ended', async () => {
  const operator = await newMember(database, runtime.ctx, 'operator')
  const viewer = await newMember(database, runtime.ctx, 'viewer')
  const other = await newMember(database, runtime.ctx, 'admin')
  const runId = await runtime.start(ask({ assignees: [`user:${other.email}`] }))
  expect(await readFirstTask(operator.ctx, { runId }, never)).toBeNull()
  expect(await readFirstTask(viewer.ctx, { runId }, never)).toBeNull()
  expect(await readFirstTask(other.ctx, { runId }, never)).toMatchObject({ runId })
  const ended = await runtime.start({ steps: [{ id: 'end', type: 'end-flow' }] })
  expect(await readFirstTask(operator.ctx, { runId: ended }, never)).toBeNull()
  const elsewhere = await runtime.as('owner', 'ten_other')
  expect(await outcome(readFirstTask(elsewhere, { runId }, never))).toBe('RUN_NOT_FOUND')
})
