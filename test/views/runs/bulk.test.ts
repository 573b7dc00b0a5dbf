import { parse } from 'csv-parse/sync'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cancelRun } from '@/server/runs/cancel'
import { startRun } from '@/server/runs/start'
import { browseRuns } from '@/server/views/runs/browse'
import { countBulk, runBulk } from '@/server/views/runs/bulk'
import { exportRuns } from '@/server/views/runs/export'
import { createWorkflow } from '@/server/workflows/lifecycle'
import { type FreshDatabase, freshDatabase } from '../../support/db'
import { startTestRuntime, type TestRuntime } from '../../support/runtime'

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

const ask = { id: 'ask', type: 'collect-inputs', title: 'How many?', output: { n: { type: 'number' } } }
const broken = { id: 'a', type: 'test-effect', url: 'http://127.0.0.1:1/', retry: { maxAttempts: 1 } }

/** Runs of a workflow of its own, each in its resting state. */
async function started(step: object, keys: string[]) {
  const { ctx } = runtime
  const payload = { key: { type: 'string' } }
  const { id } = await createWorkflow(ctx, { name: '=Orders()', payload, businessKey: '${key}', steps: [step] })
  const runIds: string[] = []
  for (const key of keys) runIds.push((await startRun(ctx, { workflowId: id, body: { key } })).runId)
  for (const runId of runIds) await runtime.wait(runId, (run) => run.status !== 'running')
  return { workflowId: id, runIds }
}
const now = () => new Date(Date.now() + 1_000).toISOString()

async function all(verb: 'cancel' | 'retry' | 'rerun', workflowId: string, at = now()) {
  let done = 0
  const refused: unknown[] = []
  for (let left = true; left; ) {
    const answer = await runBulk(runtime.ctx, { verb, filter: { workflowIds: [workflowId] }, at })
    done += answer.done
    refused.push(...answer.refused)
    left = answer.left
  }
  return { done, refused }
}

describe('many runs at once', () => {
  it('are cancelled: as many as were counted, of this filter only, and none twice', async () => {
    const keys = Array.from({ length: 30 }, (_, n) => `C-${n}`)
    const { workflowId, runIds } = await started(ask, keys)
    const other = await started(ask, ['other'])
    await cancelRun(runtime.ctx, { runId: runIds[0] ?? '' })
    const filter = { workflowIds: [workflowId] }
    expect(await countBulk(runtime.ctx, { verb: 'cancel', filter, at: now() })).toEqual({ count: 29, more: false })
    expect(await all('cancel', workflowId)).toEqual({ done: 29, refused: [] })
    for (const runId of runIds) expect((await runtime.wait(runId)).outcome).toBe('cancelled')
    expect(await countBulk(runtime.ctx, { verb: 'cancel', filter, at: now() })).toEqual({ count: 0, more: false })
    expect((await runtime.status(other.runIds[0] ?? '')).status).toBe('paused')
  })

  it('are retried once each, and their retries are not', async () => {
    const { workflowId } = await started(broken, ['R-1', 'R-2', 'R-3'])
    const at = now()
    const count = () => countBulk(runtime.ctx, { verb: 'retry', filter: { workflowIds: [workflowId] }, at })
    expect(await count()).toEqual({ count: 3, more: false })
    const before = new Date().toISOString()
    expect(await all('retry', workflowId, before)).toEqual({ done: 3, refused: [] })
    expect(await all('retry', workflowId, before)).toEqual({ done: 0, refused: [] })
  })

  it('are run again once each, after any end, and open ones are not', async () => {
    const done = { id: 'done', type: 'end-flow' }
    const { workflowId } = await started(done, ['E-1', 'E-2'])
    const before = new Date().toISOString()
    const filter = { workflowIds: [workflowId] }
    expect(await countBulk(runtime.ctx, { verb: 'rerun', filter, at: before })).toEqual({ count: 2, more: false })
    expect(await all('rerun', workflowId, before)).toEqual({ done: 2, refused: [] })
    expect(await all('rerun', workflowId, before)).toEqual({ done: 0, refused: [] })
    const open = await started(ask, ['E-3'])
    expect(await all('rerun', open.workflowId)).toEqual({ done: 0, refused: [] })
    const again = await browseRuns(runtime.ctx, filter)
    expect(again.runs.map(({ businessKey }) => businessKey).sort()).toEqual(['E-1', 'E-1', 'E-2', 'E-2'])
  })

  it('leave out child runs, whose work their parent run repeats', async () => {
    for (const [verb, step] of [
      ['rerun', { id: 'done', type: 'end-flow' }],
      ['retry', broken],
    ] as const) {
      const child = await createWorkflow(runtime.ctx, { name: 'Child', steps: [step] })
      const parent = await started({ id: 'sub', type: 'run-workflow', workflowId: child.id }, ['P-1'])
      const filter = { workflowIds: [child.id, parent.workflowId] }
      expect((await browseRuns(runtime.ctx, filter)).runs).toHaveLength(2)
      expect(await countBulk(runtime.ctx, { verb, filter, at: now() })).toEqual({ count: 1, more: false })
    }
  })

  it('found by a text are those that were counted, though others match by now', async () => {
    const { workflowId } = await started(ask, ['a zebra', 'b zebra', 'c horse'])
    const bulk = { verb: 'cancel', filter: { q: 'zebra', workflowIds: [workflowId] }, at: now() }
    const { count, searched } = await countBulk(runtime.ctx, bulk)
    expect(count).toBe(2)
    await startRun(runtime.ctx, { workflowId, body: { key: 'd zebra' } })
    await expect(runBulk(runtime.ctx, bulk)).rejects.toMatchObject({ code: 'INVALID_INPUT' })
    expect(await runBulk(runtime.ctx, { ...bulk, searched })).toMatchObject({ done: 2, left: false })
  })

  it('that started after the count are left alone', async () => {
    const { workflowId } = await started(ask, ['L-1'])
    const filter = { workflowIds: [workflowId] }
    const at = '2026-01-01T00:00:00.000Z'
    expect(await countBulk(runtime.ctx, { verb: 'cancel', filter, at })).toEqual({ count: 0, more: false })
    expect(await runBulk(runtime.ctx, { verb: 'cancel', filter, at })).toMatchObject({ done: 0, left: false })
  })

  it('need the role, and are nobody else’s', async () => {
    const { workflowId } = await started(ask, ['N-1'])
    const bulk = { verb: 'cancel', filter: { workflowIds: [workflowId] }, at: now() }
    await expect(runBulk(await runtime.as('viewer'), bulk)).rejects.toMatchObject({ code: 'FORBIDDEN' })
    expect(await runBulk(await runtime.as('owner', 'ten_other'), bulk)).toMatchObject({ done: 0 })
    await expect(runBulk(runtime.ctx, { ...bulk, verb: 'delete' })).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  })
})

it('the runs of a filter are downloaded as CSV, in which no text is a formula', async () => {
  const { workflowId, runIds } = await started(broken, ['A,"1"\nB', '-2+3'])
  const { csv, more } = await exportRuns(runtime.ctx, { workflowIds: [workflowId] })
  expect(more).toBe(false)
  const rows = parse(csv, { columns: true, bom: true }) as Record<string, string>[]
  expect(rows.map(({ run }) => run)).toEqual(runIds.toReversed())
  expect(rows[1]).toMatchObject({ businessKey: 'A,"1" B', workflow: "'=Orders()", state: 'failed', failedAt: 'a' })
  expect(rows[0]).toMatchObject({ businessKey: "'-2+3", test: 'false', startedBy: expect.any(String) })
  expect(Number(rows[0]?.durationMs)).toBeGreaterThanOrEqual(0)
  const none = await exportRuns(await runtime.as('owner', 'ten_other'), {})
  expect(parse(none.csv, { columns: true, bom: true })).toEqual([])
})
