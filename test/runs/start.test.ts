import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ServiceContext, withTransaction } from '@/server/context'
import { bindTransport } from '@/server/outbox'
import { startRun } from '@/server/runs/start'
import { deleteWorkflowPermanently } from '@/server/workflows/delete-permanently'
import { archiveWorkflow, createWorkflow, publishWorkflow, updateWorkflow } from '@/server/workflows/lifecycle'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { currentTransport } from '../support/event-transport'
import { startTestRuntime, type TestRuntime } from '../support/runtime'

// A start expects the workflow as its process last saw it. The statement that writes the run verifies that.

let database: FreshDatabase
let runtime: TestRuntime
beforeAll(async () => {
  database = await freshDatabase()
  runtime = await startTestRuntime(database.url)
})
afterAll(async () => {
  await runtime.stop()
  await database.close()
})

const version = (of: string) => ({ steps: [{ id: 'end', type: 'end-flow', output: { of } }], edges: [] })
const start = async (workflowId: string, wanted?: string) => {
  const { runId, workflowVersion } = await startRun(runtime.ctx, { workflowId, body: {}, version: wanted })
  const { result } = await runtime.wait(runId)
  return { workflowVersion, result }
}

/** A published workflow that this process has already run. */
async function known(): Promise<string> {
  const { id } = await createWorkflow(runtime.ctx, { name: 'Known', ...version('one') })
  await publishWorkflow(runtime.ctx, { id })
  expect(await start(id)).toEqual({ workflowVersion: 1, result: { of: 'one' } })
  expect(await start(id)).toEqual({ workflowVersion: 1, result: { of: 'one' } })
  return id
}

const runsOf = async (id: string) => (await database.sql`select 1 from runs where workflow_id = ${id}`).length

test('runs the version that is published now, not the one it saw last', async () => {
  const id = await known()
  await updateWorkflow(runtime.ctx, { id, body: version('two') })
  expect(await start(id)).toEqual({ workflowVersion: 1, result: { of: 'one' } })
  await publishWorkflow(runtime.ctx, { id })
  expect(await start(id)).toEqual({ workflowVersion: 2, result: { of: 'two' } })
  expect(await start(id, '1')).toEqual({ workflowVersion: 1, result: { of: 'one' } })
  expect(await start(id, 'published')).toEqual({ workflowVersion: 2, result: { of: 'two' } })
})

test('checks the input against the version that is published now', async () => {
  const asking = (name: string) => ({ ...version('x'), payload: { [name]: { type: 'string' } } })
  const { id } = await createWorkflow(runtime.ctx, { name: 'Fields', ...asking('a') })
  await publishWorkflow(runtime.ctx, { id })
  const startWith = (body: { [name: string]: string }) => startRun(runtime.ctx, { workflowId: id, body })
  expect(await startWith({ a: 'x' })).toMatchObject({ workflowVersion: 1 })
  await updateWorkflow(runtime.ctx, { id, body: asking('b') })
  await publishWorkflow(runtime.ctx, { id })
  expect(await startWith({ b: 'x' })).toMatchObject({ workflowVersion: 2 })
  await expect(startWith({ a: 'x' })).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  await archiveWorkflow(runtime.ctx, { id })
  await expect(startWith({ a: 'x' })).rejects.toMatchObject({ code: 'WORKFLOW_ARCHIVED' })
  await deleteWorkflowPermanently(runtime.ctx, { id })
  await expect(startWith({ a: 'x' })).rejects.toMatchObject({ code: 'WORKFLOW_NOT_FOUND' })
})

test('a start that cannot be written gives its place back', async () => {
  const id = await known()
  const original = currentTransport()
  const places = new Set<object>()
  let queues = 0
  try {
    bindTransport({
      kick: () => {},
      queue: (event) => {
        const queued = original.queue?.(event)
        if (!queued) throw new Error('no place')
        const job = Object.defineProperty({ ...queued.job }, 'event', {
          get: () => {
            throw new RangeError('Invalid string length')
          },
        })
        queues++
        places.add(queued)
        const notWritten = () => {
          places.delete(queued)
          queued.notWritten()
        }
        return { ...queued, job, notWritten }
      },
    })
    const effect = await createWorkflow(runtime.ctx, {
      name: 'Effect',
      steps: [{ id: 'a', type: 'test-effect' }],
      edges: [],
    })
    await expect(startRun(runtime.ctx, { workflowId: effect.id, body: {} })).rejects.toThrow('Invalid string length')
    expect([queues, places.size]).toEqual([2, 0])
  } finally {
    bindTransport(original)
  }
  expect(await start(id)).toEqual({ workflowVersion: 1, result: { of: 'one' } })
})

test('writes no run of a workflow that was archived or deleted meanwhile', async () => {
  const id = await known()
  await archiveWorkflow(runtime.ctx, { id })
  await expect(start(id)).rejects.toMatchObject({ code: 'WORKFLOW_ARCHIVED' })
  const gone = await known()
  await archiveWorkflow(runtime.ctx, { id: gone })
  await deleteWorkflowPermanently(runtime.ctx, { id: gone })
  await expect(start(gone)).rejects.toMatchObject({ code: 'WORKFLOW_NOT_FOUND' })
  expect(await runsOf(id)).toBe(2)
  expect(await runsOf(gone)).toBe(2)
})

test('its cache of one tenant’s workflow helps no other tenant, and no token that may not reach it', async () => {
  const id = await known()
  const other = await runtime.as('owner', 'ten_other')
  await expect(startRun(other, { workflowId: id, body: {} })).rejects.toMatchObject({ code: 'WORKFLOW_NOT_FOUND' })
  const limited = { ...runtime.ctx, reach: { workflowIds: ['wf_another'], agentIds: null, ownRuns: false } }
  await expect(startRun(limited, { workflowId: id, body: {} })).rejects.toMatchObject({ code: 'WORKFLOW_NOT_FOUND' })
})

test('a run that the engine cannot take at once is written as requested, and runs nevertheless', async () => {
  const id = await known()
  const original = currentTransport()
  try {
    bindTransport({ kick: () => original.kick() })
    expect(await start(id)).toEqual({ workflowVersion: 1, result: { of: 'one' } })
  } finally {
    bindTransport(original)
  }
})

test('a value that Postgres refuses in the first step fails the run, not the start', async () => {
  const { id } = await createWorkflow(runtime.ctx, {
    name: 'Refused',
    payload: { text: { type: 'string' } },
    steps: [{ id: 'end', type: 'end-flow', output: { text: '${text}' } }],
    edges: [],
  })
  await publishWorkflow(runtime.ctx, { id })
  await database.sql`
    create or replace function refuse() returns trigger language plpgsql as $$
    begin raise exception 'no' using errcode = '22P05'; end $$`
  await database.sql`create trigger refuse before insert on step_records for each row execute function refuse()`
  try {
    const start = (ctx: ServiceContext) => startRun(ctx, { workflowId: id, body: { text: 'x' } })
    // A schedule and an inbound webhook start it in a transaction of their own.
    for (const { runId } of [await start(runtime.ctx), await withTransaction(runtime.ctx, start)])
      expect(await runtime.wait(runId)).toMatchObject({ status: 'failed', error: { code: 'VALUE_REFUSED' } })
  } finally {
    await database.sql`drop trigger refuse on step_records`
  }
})
