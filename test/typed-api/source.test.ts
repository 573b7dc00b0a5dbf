import { afterAll, beforeAll, expect, test } from 'vitest'
import { archiveAgent, createAgent, publishAgent, updateAgent } from '@/server/agents/lifecycle'
import type { ServiceContext } from '@/server/context'
import { openApiDocument } from '@/server/rest/openapi-document'
import { setTenantName } from '@/server/tenants/set-name'
import { typedApiSource } from '@/server/typed-api/source'
import { deleteWorkflowPermanently } from '@/server/workflows/delete-permanently'
import { archiveWorkflow, createWorkflow } from '@/server/workflows/lifecycle'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { newTenant, withRole } from '../support/tenant'

let database: FreshDatabase
let ctx: ServiceContext
beforeAll(async () => {
  database = await freshDatabase()
  ctx = withRole(await newTenant(database), 'owner')
})
afterAll(() => database.close())

const sourceFor = (as: ServiceContext, query: object = {}) =>
  typedApiSource(as, openApiDocument('http://localhost'), { workflows: 'published', ...query })

test('every change that a document may show has another source, and without one it stays', async () => {
  const { id: agent } = await createAgent(ctx, { name: 'Reader', outputSchema: { type: 'object' } })
  const { id: workflow } = await createWorkflow(ctx, { name: 'Order', steps: [{ id: 'end', type: 'end-flow' }] })
  const changes: Record<string, () => Promise<unknown>> = {
    'a save of what a workflow may use': () => updateAgent(ctx, { id: agent, body: { instructions: 'Answer.' } }),
    'a version that is published': () => publishAgent(ctx, { id: agent }),
    'an agent that is archived': () => archiveAgent(ctx, { id: agent }),
    'a workflow that is archived': () => archiveWorkflow(ctx, { id: workflow }),
    'a workflow that is deleted': () => deleteWorkflowPermanently(ctx, { id: workflow }),
    'another name of the workspace': () => setTenantName(ctx, { name: 'Another name' }),
  }
  let before = await sourceFor(ctx)
  for (const [what, change] of Object.entries(changes)) {
    expect(await sourceFor(ctx)).toBe(before)
    await change()
    const after = await sourceFor(ctx)
    expect(after, what).not.toBe(before)
    before = after
  }
})

test('who sees something else has another source', async () => {
  const only = (ids: readonly string[]) => ({ ...ctx, reach: { workflowIds: ids, agentIds: null, ownRuns: false } })
  const all = [
    await sourceFor(ctx),
    await sourceFor(only(['wf_1'])),
    await sourceFor(only(['wf_2'])),
    await sourceFor(ctx, { only: 'wf_1' }),
    await sourceFor(await newTenant(database)),
  ]
  expect(new Set(all).size).toBe(all.length)
  expect(await sourceFor(withRole(ctx, 'viewer'))).toBe(all[0])
})
