import { afterAll, beforeAll, expect, test } from 'vitest'
import { retryRuns } from '@/server/runs/retry-many'
import { startRun } from '@/server/runs/start'
import { runBulk } from '@/server/views/runs/bulk'
import { createWorkflow, publishWorkflow, updateWorkflow } from '@/server/workflows/lifecycle'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { type EffectServer, startEffects } from '../support/effects'
import { startTestRuntime, type TestRuntime } from '../support/runtime'

// Of concurrent calls that repeat the same runs, one repeats each.

let database: FreshDatabase
let effects: EffectServer
let runtime: TestRuntime

beforeAll(async () => {
  database = await freshDatabase()
  effects = await startEffects(({ path }) => ({ body: { done: path.slice(1) } }))
  runtime = await startTestRuntime(database.url)
})

afterAll(async () => {
  await runtime?.stop()
  await effects?.stop()
  await database?.close()
})

const WAIT = 10_000
const effect = (id: string) => ({ id, type: 'test-effect', url: `${effects.url}${id}`, body: {}, saveAs: id })
const end = { id: 'end', type: 'end-flow', output: {} }
interface Step {
  id: string
  [field: string]: unknown
}
const line = (...steps: Step[]) => ({
  payload: {},
  initialStep: steps[0]?.id,
  steps,
  edges: steps.slice(1).map(({ id }, at) => ({ from: steps[at]?.id ?? '', to: id })),
})

async function published(definition: object): Promise<string> {
  const { id } = await createWorkflow(runtime.ctx, { name: 'At once', ...definition })
  await publishWorkflow(runtime.ctx, { id })
  return id
}

const broken = () => line(effect('order'), { id: 'sum', type: 'set-data', compute: { x: '${order.no} * 2' } }, end)

async function ended(id: string, count: number): Promise<string[]> {
  const runIds: string[] = []
  for (let at = 0; at < count; at++) runIds.push((await startRun(runtime.ctx, { workflowId: id, body: {} })).runId)
  for (const runId of runIds) await runtime.wait(runId, undefined, WAIT)
  return runIds
}

test('two calls for the same runs make each call of theirs once', async () => {
  const id = await published(broken())
  const runIds = await ended(id, 6)
  const sum = { id: 'sum', type: 'set-data', values: { x: 1 } }
  await updateWorkflow(runtime.ctx, { id, body: line(effect('order'), sum, effect('refund'), end) })
  await publishWorkflow(runtime.ctx, { id })
  const at = new Date(Date.now() + 60_000).toISOString()
  const bulk = { verb: 'retry' as const, filter: { workflowIds: [id] }, at, version: 'published' }
  const body = { workflowId: id, runIds, version: 'published' }
  const [first, second, third] = await Promise.all([
    retryRuns(runtime.ctx, body),
    retryRuns(runtime.ctx, { ...body, runIds: runIds.toReversed() }),
    runBulk(runtime.ctx, bulk),
  ])
  const retried = [...first.retried, ...second.retried]
  expect(retried.length + third.done).toBe(6)
  for (const { code } of [...first.refused, ...second.refused, ...third.refused]) expect(code).toBe('CONFLICT')
  const again = await database.sql<{ id: string; of: string }[]>`
    select id, retry_of as of from runs where retry_of = any(${runIds})`
  expect(again.map(({ of }) => of).sort()).toEqual(runIds.toSorted())
  for (const run of again) await runtime.wait(run.id, undefined, WAIT)
  expect(effects.seen.filter(({ path }) => path === '/refund')).toHaveLength(6)
})

test('two calls that run the same runs again repeat each once', async () => {
  const id = await published(line(effect('order'), end))
  const runIds = await ended(id, 6)
  const at = new Date(Date.now() + 60_000).toISOString()
  const bulk = { verb: 'rerun' as const, filter: { workflowIds: [id] }, at }
  const [first, second] = await Promise.all([runBulk(runtime.ctx, bulk), runBulk(runtime.ctx, bulk)])
  expect(first.done + second.done).toBe(6)
  for (const { code } of [...first.refused, ...second.refused]) expect(code).toBe('CONFLICT')
  const again = await database.sql<{ of: string }[]>`select retry_of as of from runs where retry_of = any(${runIds})`
  expect(again.map(({ of }) => of).sort()).toEqual(runIds.toSorted())
})

test('a run that a step started is left to its parent', async () => {
  const child = await published(broken())
  const parent = await published(line({ id: 'sub', type: 'run-workflow', workflowId: child, input: {} }, end))
  const [parentId] = await ended(parent, 1)
  const [row] = await database.sql<{ id: string }[]>`select id from runs where parent_run_id = ${parentId ?? ''}`
  const { retried, refused } = await retryRuns(runtime.ctx, { workflowId: child, runIds: [row?.id ?? ''] })
  expect([retried, refused.map(({ code, message }) => [code, message])]).toEqual([
    [],
    [['CONFLICT', 'A step of another run started it: retry that']],
  ])
})
