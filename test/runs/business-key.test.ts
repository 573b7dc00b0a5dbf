import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ServiceContext } from '@/server/context'
import { businessKeyOf } from '@/server/definition/business-key'
import { listRuns } from '@/server/runs/list'
import { rerunRun } from '@/server/runs/rerun'
import { retryRun } from '@/server/runs/retry'
import { startRun } from '@/server/runs/start'
import { setVaultSecret } from '@/server/vault/set'
import { findAnything } from '@/server/views/home/find'
import { readPulse } from '@/server/views/home/pulse'
import { browseRuns } from '@/server/views/runs/browse'
import { getRunOverview } from '@/server/views/runs/overview'
import { countTasks } from '@/server/views/tasks/count'
import { listTasks } from '@/server/views/tasks/list'
import { getChanges } from '@/server/views/workflows/changes'
import { createWorkflow, publishWorkflow, updateWorkflow } from '@/server/workflows/lifecycle'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { startTestRuntime, type TestRuntime } from '../support/runtime'

let database: FreshDatabase
let runtime: TestRuntime
beforeAll(async () => {
  database = await freshDatabase()
  runtime = await startTestRuntime(database.url, { ENCRYPTION_KEY: 'ab'.repeat(32) })
})
afterAll(async () => {
  await runtime?.stop()
  await database?.close()
})

const ask = { id: 'ask', type: 'collect-inputs', title: 'How many?', output: { n: { type: 'number' } } }
const payload = { orderId: { type: 'string' }, note: { type: 'string', required: false } }

async function workflow(more: object = {}) {
  const { ctx } = runtime
  const { id } = await createWorkflow(ctx, {
    name: 'Orders',
    payload,
    steps: [ask],
    businessKey: '${orderId}',
    ...more,
  })
  await publishWorkflow(ctx, { id })
  return id
}
const start = async (workflowId: string, orderId: string) => {
  const { runId } = await startRun(runtime.ctx, { workflowId, body: { orderId } })
  await runtime.wait(runId, (run) => run.status === 'paused')
  return runId
}

describe('a business key', () => {
  it('is text with values of the input, in one line, cut if it is long, and null without a value', () => {
    const key = (businessKey: string, input: object) => businessKeyOf({ businessKey }, input as never)
    expect(key('${a}', { a: 'N-1' })).toBe('N-1')
    expect(key('${a.b} / ${n}', { a: { b: 'x\n y' }, n: 7 })).toBe('x y / 7')
    expect(key('${a}', { a: 'é'.repeat(500) })).toHaveLength(200)
    expect([key('${a}', {}), key('${a}', { a: null }), key('${a}', { a: '  ' }), key('${', {})]).toEqual([
      null,
      null,
      null,
      null,
    ])
    expect(businessKeyOf({}, { a: 1 })).toBeNull()
  })

  it('is given to a run when it starts, shown with it, and kept by a retry; a rerun with new input gets its own', async () => {
    const runId = await start(await workflow(), 'N-20417')
    expect(await runtime.status(runId)).toMatchObject({ businessKey: 'N-20417' })
    expect(await getRunOverview(runtime.ctx, { runId })).toMatchObject({ businessKey: 'N-20417' })
    const other = await rerunRun(runtime.ctx, { runId, body: { data: { orderId: 'N-7' } } })
    expect(await runtime.status(other.runId)).toMatchObject({ businessKey: 'N-7' })
    const broken = await workflow({
      steps: [{ id: 'a', type: 'test-effect', url: 'http://127.0.0.1:1/', retry: { maxAttempts: 1 } }],
    })
    const failed = (await startRun(runtime.ctx, { workflowId: broken, body: { orderId: 'N-8' } })).runId
    expect((await runtime.wait(failed)).status).toBe('failed')
    const retried = await retryRun(runtime.ctx, { runId: failed })
    expect(await runtime.status(retried.runId)).toMatchObject({ businessKey: 'N-8' })
  })

  it('finds runs: by the whole key in the API, by its start in the dashboard, in upper or lower case', async () => {
    const { ctx } = runtime
    const runId = await start(await workflow(), 'FIND-1')
    await start(await workflow(), 'FIND-10')
    const ids = (runs: { runId: string }[]) => runs.map((run) => run.runId)
    expect(ids((await listRuns(ctx, { businessKey: 'find-1' })).runs)).toEqual([runId])
    expect((await listRuns(ctx, { businessKey: 'find-1' })).runs).toMatchObject([{ businessKey: 'FIND-1' }])
    expect(ids((await browseRuns(ctx, { businessKey: 'find-1' })).runs)).toEqual([runId])
    expect((await browseRuns(ctx, { q: 'find-1' })).runs).toHaveLength(2)
    expect((await browseRuns(ctx, { q: 'find-%' })).runs).toEqual([])
    expect((await findAnything(ctx, { q: 'Find-10' })).filter(({ kind }) => kind === 'run')).toMatchObject([
      { name: 'FIND-10 · Orders' },
    ])
    expect((await listTasks(ctx, { q: 'find-1' })).tasks.map((task) => task.businessKey).sort()).toEqual([
      'FIND-1',
      'FIND-10',
    ])
    const foreign = await runtime.as('owner', 'ten_other')
    expect((await listRuns(foreign, { businessKey: 'find-1' })).runs).toEqual([])
    expect((await browseRuns(foreign, { q: 'find-1' })).runs).toEqual([])
  })

  it('that is a vault value is masked', async () => {
    const runId = await start(await workflow(), 'swordfish-8472')
    await setVaultSecret(runtime.ctx, { name: 'PASSWORD', value: 'swordfish-8472' })
    const shown = [await runtime.status(runId), await listRuns(runtime.ctx, {}), await browseRuns(runtime.ctx, {})]
    expect(JSON.stringify(shown)).not.toContain('swordfish')
  })

  it('with a field that START does not have is a warning, not an error; null removes it', async () => {
    const { ctx } = runtime
    const { id } = await createWorkflow(ctx, { name: 'Orders', payload, steps: [ask], businessKey: '${orderID}' })
    const { warnings, businessKey } = await publishWorkflow(ctx, { id })
    expect(businessKey).toBe('${orderID}')
    expect(warnings.filter(({ code }) => code === 'W_BUSINESS_KEY')).toMatchObject([
      { field: 'businessKey', message: expect.stringContaining('no field orderID') },
    ])
    const runId = await start(id, 'N-9')
    expect(await runtime.status(runId)).not.toHaveProperty('businessKey')
    expect(await updateWorkflow(ctx, { id, body: { businessKey: null } })).not.toHaveProperty('businessKey')
  })
})

it('a test of a draft is left out of the inbox and of figures, and its repeats are tests too', async () => {
  const ctx = {
    ...runtime.ctx,
    actor: { kind: 'user', id: 'usr_1', name: 'Ada', sessionId: '', role: 'owner' },
  } as const
  const id = await workflow()
  await updateWorkflow(ctx, { id, body: { name: 'Orders, changed' } })
  const counted = async () => [
    (await countTasks(ctx, {})).count,
    (await listTasks(ctx, { limit: 100 })).tasks.length,
    Object.values((await readPulse(ctx)).counts).reduce((sum, count) => sum + count, 0),
  ]
  const before = await counted()
  const { runId } = await startRun(ctx, { workflowId: id, body: { orderId: 'T-1' }, version: 'latest' })
  await runtime.wait(runId, (run) => run.status === 'paused')
  const again = await rerunRun(ctx, { runId, body: {} })
  await runtime.wait(again.runId, (run) => run.status === 'paused')
  expect(await counted()).toEqual(before)
  const { tasks } = await listTasks(ctx, { q: 'T-1', tests: true })
  expect(tasks).toMatchObject([{ startedVia: 'test' }, { startedVia: 'test' }])
  expect((await countTasks(ctx, { tests: true })).count).toBe((before[0] ?? 0) + 2)
})

it('a test of the published version is a test as well, for those who may change it', async () => {
  const actor = { kind: 'user', id: 'usr_1', name: 'Ada', sessionId: '', role: 'editor' } as const
  const editor: ServiceContext = { ...runtime.ctx, actor }
  const operator: ServiceContext = { ...editor, actor: { ...actor, role: 'operator' } }
  const id = await workflow()
  const via = async (ctx: ServiceContext, input: { version?: string; test?: boolean }) => {
    const { runId } = await startRun(ctx, { workflowId: id, body: { orderId: 'T-2' }, ...input })
    await runtime.wait(runId, (run) => run.status === 'paused')
    return (await getRunOverview(runtime.ctx, { runId })).startedVia
  }
  const { running } = await getChanges(editor, { id })
  expect(await via(editor, { version: '1', test: true })).toBe('test')
  expect((await getChanges(editor, { id })).running).toBe(running)
  expect(await via(editor, {})).toBe('user')
  expect(await via(operator, { test: false })).toBe('user')
  expect((await getChanges(editor, { id })).running).toBe(running + 2)
  // Only people test.
  expect(await via(runtime.ctx, { test: true })).toBe('apiKey')
  await expect(via(operator, { test: true })).rejects.toMatchObject({ code: 'FORBIDDEN' })
  await expect(via(editor, { test: 'yes' as never })).rejects.toMatchObject({ code: 'INVALID_INPUT' })
})
