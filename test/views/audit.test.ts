import { afterAll, beforeAll, expect, test } from 'vitest'
import { createSchedule } from '@/server/schedules/save'
import { browseAudit } from '@/server/views/audit'
import { createWorkflow, publishWorkflow } from '@/server/workflows/lifecycle'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { newTenant } from '../support/tenant'

let database: FreshDatabase
beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(() => database?.close())

test('the details of entries have the names that their ids stand for, in their workspace only', async () => {
  const ctx = await newTenant(database)
  const { id: workflowId } = await createWorkflow(ctx, { name: 'Report', steps: [{ id: 'end', type: 'end-flow' }] })
  await publishWorkflow(ctx, { id: workflowId })
  await createSchedule(ctx, { workflowId, body: { name: 'Daily', cron: '0 9 * * *', timeZone: 'UTC', data: {} } })
  const { entries, names } = await browseAudit(ctx, {})
  expect(entries[0]?.details).toMatchObject({ workflow: workflowId })
  expect(names).toEqual([{ id: workflowId, kind: 'workflow', name: 'Report' }])
  expect((await browseAudit(await newTenant(database), {})).names).toEqual([])
})
