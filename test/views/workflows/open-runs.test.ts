import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ServiceContext } from '@/server/context'
import { startRun } from '@/server/runs/start'
import { terminateRun } from '@/server/runs/terminate'
import { browseRuns } from '@/server/views/runs/browse'
import { openRunsByVersion } from '@/server/views/workflows/open-runs'
import { createWorkflow, publishWorkflow, updateWorkflow } from '@/server/workflows/lifecycle'
import { type FreshDatabase, freshDatabase } from '../../support/db'
import { newTenant } from '../../support/tenant'

let database: FreshDatabase
let ctx: ServiceContext
beforeAll(async () => {
  database = await freshDatabase()
  ctx = await newTenant(database)
})
afterAll(() => database.close())

const asking = (name: string) => ({
  name: 'Order',
  steps: [{ id: 'ask', name, type: 'collect-inputs', output: { item: { type: 'string' } } }],
})

test('open runs are counted by the version that they keep to and the step where they stand, under its name there', async () => {
  const { id } = await createWorkflow(ctx, asking('Ask'))
  const start = async () => (await startRun(ctx, { workflowId: id, body: {} })).runId
  await publishWorkflow(ctx, { id })
  const old = [await start(), await start(), await start()]
  await terminateRun(ctx, { runId: old[2] ?? '' })
  await updateWorkflow(ctx, { id, body: asking('Ask again') })
  const { version = 2 } = await publishWorkflow(ctx, { id })
  await start()
  const { id: other } = await createWorkflow(ctx, asking('Other'))
  await startRun(ctx, { workflowId: other, body: {} })
  await database.sql`update runs set current_step_id = 'ask' where workflow_id = ${id} and outcome is null`
  expect(await openRunsByVersion(ctx, { id })).toEqual({
    versions: [
      { version, number: 2, count: 1, steps: [{ stepId: 'ask', name: 'Ask again', count: 1 }] },
      { version: 1, number: 1, count: 2, steps: [{ stepId: 'ask', name: 'Ask', count: 2 }] },
    ],
    atLeast: false,
  })
  const { runs } = await browseRuns(ctx, { workflowIds: [id], version: 1, states: ['running', 'paused'] })
  expect(runs.map(({ runId }) => runId).sort()).toEqual(old.slice(0, 2).sort())
})
