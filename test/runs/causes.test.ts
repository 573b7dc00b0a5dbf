import { createHash } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readCauseRuns, readCauses } from '@/server/runs/causes'
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
  const causeOf = async (runId = '') => (await readShownCauses(runtime.ctx, { workflowId: id, runId })).ofRun
  expect(await causeOf(divided[0])).toBe(second.key)
  expect((await getRunOverview(runtime.ctx, { runId: large[0] ?? '' })).alike).toEqual({ count: 2, more: false })

  // One that was retried is its successor's.
  const { runId: again } = await retryRun(runtime.ctx, { runId: divided[0] ?? '' })
  await runtime.wait(again, undefined, 10_000)
  expect(await causeOf(divided[0])).toBeNull()
  expect(await causeOf(again)).toBe(second.key)
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

test('a sensitive value is neither in a key nor told by the groups', async () => {
  const { id } = await createWorkflow(runtime.ctx, {
    name: 'Hides',
    payload: { diagnosis: { type: 'string', sensitive: true } },
    initialStep: 'no',
    steps: [{ id: 'no', type: 'fail-flow', code: 'NO', message: 'Not paid: ${diagnosis}' }],
    edges: [],
  })
  await publishWorkflow(runtime.ctx, { id })
  const runIds: string[] = []
  for (const diagnosis of ['Diabetes', 'Diabetes', 'Asthma']) {
    const { runId } = await startRun(runtime.ctx, { workflowId: id, body: { diagnosis } })
    await runtime.wait(runId, undefined, 10_000)
    runIds.push(runId)
  }
  const { causes } = await readCauses(runtime.ctx, { workflowId: id })
  expect(causes.map(({ count }) => count)).toEqual([3])
  expect(causes[0]?.key).toMatch(/^[0-9a-f]{64}$/)
  expect(await readCauseRuns(runtime.ctx, { workflowId: id, key: causes[0]?.key })).toEqual({
    runIds: runIds.toReversed(),
  })
  for (const runId of runIds)
    expect((await getRunOverview(runtime.ctx, { runId })).alike).toEqual({ count: 2, more: false })
  // Without the key of the installation, nobody can compute the key of a guess.
  const open = await createWorkflow(runtime.ctx, definition('No'))
  await publishWorkflow(runtime.ctx, { id: open.id })
  await ran(open.id, 200)
  const [cause] = (await readCauses(runtime.ctx, { workflowId: open.id })).causes
  const text = '[1, "refuse", "TOO_MUCH", "No"]'
  const guesses = ['md5', 'sha256'].map((kind) => createHash(kind).update(text).digest('hex'))
  expect(guesses).not.toContain(cause?.key)
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
