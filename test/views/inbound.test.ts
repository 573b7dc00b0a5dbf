import { afterAll, beforeAll, expect, test } from 'vitest'
import { createInbound } from '@/server/inbound/save'
import { browseInbound } from '@/server/views/inbound/browse'
import { archiveWorkflow, createWorkflow } from '@/server/workflows/lifecycle'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { newTenant, withRole } from '../support/tenant'

let database: FreshDatabase
beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(() => database?.close())

test('who may not change inbound webhooks sees them without their addresses', async () => {
  const ctx = await newTenant(database)
  const steps = [{ id: 'end', type: 'end-flow' }]
  const { id: workflowId } = await createWorkflow(ctx, { name: 'From outside', steps })
  const { path } = await createInbound(ctx, { workflowId, body: { name: 'Issues', scheme: 'github' } })
  await archiveWorkflow(ctx, { id: workflowId })
  const [shown] = await browseInbound(withRole(ctx, 'editor'))
  expect(shown).toMatchObject({ path, workflowName: 'From outside', archived: true })
  const seen = await browseInbound(withRole(ctx, 'operator'))
  expect(seen).toMatchObject([{ name: 'Issues', path: null }])
  expect(JSON.stringify(seen)).not.toContain(path.split('/').at(-1))
  expect(await browseInbound(await newTenant(database))).toEqual([])
})
