import { afterAll, beforeAll, expect, test } from 'vitest'
import { causeOfRun, readCauseRuns, readCauses } from '@/server/runs/causes'
import { retryRun } from '@/server/runs/retry'
import { startRun } from '@/server/runs/start'
import { readShownCauses } from '@/server/views/runs/causes'
import { getRunOverview } from '@/server/views/runs/overview'
import { createWorkflow, publishWorkflow, updateWorkflow } from '@/server/workflows/lifecycle'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { startTestRuntime, type TestRuntime } from '../support/runtime'
import { outcome } from '../workflows/support'

// Why the runs of a workflow failed.

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

/** Fails with a message that names the order, and after that by a division for 1. */
const definition = (message: string) => ({
  name: 'Breaks',
  payload: { n: { type: 'number' } },
  initialStep: 'check',
  steps: [
    { id: 'check', type: 'condition', when: '${n} > 100', name: 'Check it' },
    { id: 'refuse', type: 'fail-flow', code: 'TOO_MUCH', message },
    { id: 'sum', type: 'set-data', name: 'Add up', compute: { x: '1 / (${n} - 1)' } },
    { id: 'end', type: 'end-flow' },
  ],
  edges: [
    { from: 'check', to: 'refuse', on: 'true' },
    { from: 'check', to: 'sum', on: 'false' },
    { from: 'sum', to: 'end' },
  ],
})

async function ran(workflowId: string, n: number): Promise<string> {
  const { runId } = await startRun(runtime.ctx, { workflowId, body: { n } })
  await runtime.wait(runId, undefined, 10_000)
  return runId
}

test('failures are grouped by version, step, code and message without its values, those that nobody repeated', async () => {
  const { id } = await createWorkflow(
    runtime.ctx,
    definition('The order “${n}” of run_01KAHV6N3C0000G8VJ4M is ${n} too much'),
  )
  await publishWorkflow(runtime.ctx, { id })
  const large = [await ran(id, 200), await ran(id, 3_000), await ran(id, 45_000)]
  const divided = [await ran(id, 1), await ran(id, 1)]
  await ran(id, 5)
  const { causes, of } = await readCauses(runtime.ctx, { workflowId: id })
  expect(of).toBe(5)
  expect(causes.map(({ version, stepId, code, count, runs }) => ({ version, stepId, code, count, runs }))).toEqual([
    { version: 1, stepId: 'refuse', code: 'TOO_MUCH', count: 3, runs: large.toReversed() },
    { version: 1, stepId: 'sum', code: expect.any(String), count: 2, runs: divided.toReversed() },
  ])
  expect(causes[0]?.message).toBe('The order “45000” of run_01KAHV6N3C0000G8VJ4M is 45000 too much')
  const [first, second] = causes
  if (!first || !second) throw new Error('no causes')
  const at = { workflowId: id, key: first.key }
  expect(await readCauseRuns(runtime.ctx, at)).toEqual({ runIds: large.toReversed() })
  expect(await causeOfRun(runtime.ctx, id, divided[0] ?? '')).toBe(second.key)
  expect((await getRunOverview(runtime.ctx, { runId: large[0] ?? '' })).alike).toEqual({ count: 2, more: false })

  // One that was retried is its successor's.
  const { runId: again } = await retryRun(runtime.ctx, { runId: divided[0] ?? '' })
  await runtime.wait(again, undefined, 10_000)
  expect(await causeOfRun(runtime.ctx, id, divided[0] ?? '')).toBeNull()
  expect(await causeOfRun(runtime.ctx, id, again)).toBe(second.key)
  // Another version is another cause.
  await updateWorkflow(runtime.ctx, { id, body: { description: 'Other' } })
  await publishWorkflow(runtime.ctx, { id })
  const later = await ran(id, 1)
  const shown = await readShownCauses(runtime.ctx, { workflowId: id, runId: later })
  expect(shown.causes.map(({ number, stepName, count }) => [number, stepName, count])).toEqual([
    [1, 'refuse', 3],
    [1, 'Add up', 2],
    [2, 'Add up', 1],
  ])
  expect(shown.ofRun).toBe(shown.causes[2]?.key)
})

test('nobody sees those of another workspace, or of a workflow beyond reach', async () => {
  const { id } = await createWorkflow(runtime.ctx, definition('No'))
  await ran(id, 1)
  const other = await runtime.as('owner', 'ten_other')
  expect(await outcome(readCauses(other, { workflowId: id }))).toBe('WORKFLOW_NOT_FOUND')
  expect(await outcome(readCauseRuns(other, { workflowId: id, key: 'x' }))).toBe('WORKFLOW_NOT_FOUND')
  const reach = { workflowIds: [id], agentIds: null, ownRuns: true }
  expect((await readCauses({ ...runtime.ctx, reach }, { workflowId: id })).causes).toEqual([])
})
