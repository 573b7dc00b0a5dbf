import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { applyDefinitions } from '@/server/as-code/apply'
import type { ServiceContext } from '@/server/context'
import { addSamples } from '@/server/tenants/boot/add-samples'
import { createTool, updateTool } from '@/server/tools/lifecycle'
import {
  archiveWorkflow,
  createWorkflow,
  duplicateWorkflow,
  listWorkflowVersions,
  publishWorkflow,
  unarchiveWorkflow,
  updateWorkflow,
} from '@/server/workflows/lifecycle'
import { SAMPLE_WORKFLOWS } from '@/server/workflows/samples'
import { workflow, workspace } from '../as-code/support'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { expectInvariants } from '../support/invariants/check'
import { newTenant } from '../support/tenant'
import { RUNNABLE } from './support'

let database: FreshDatabase
let owner: ServiceContext
beforeAll(async () => {
  database = await freshDatabase({ max: 10 })
  owner = await newTenant(database)
})
afterEach(() => expectInvariants(database.sql, { engine: false }))
afterAll(() => database.close())

/** The API's version and people's number of each remaining version, in order. */
async function numbered(id: string, ctx = owner): Promise<[version: number, number: number | null][]> {
  const rows = await database.sql`
    select version, number from workflow_versions where tenant_id = ${ctx.tenantId} and workflow_id = ${id} order by version`
  return rows.map(({ version, number }) => [version as number, number as number | null])
}

async function autosave(id: string, times: number): Promise<void> {
  for (let time = 0; time < times; time++)
    await updateWorkflow(owner, { id, body: { description: `${Math.random()}` } })
}

test('people count publications, however often was saved in between; the API counts saves as before', async () => {
  const { id } = await createWorkflow(owner, RUNNABLE)
  const published: number[] = []
  for (const saves of [9, 4, 1]) {
    await autosave(id, saves)
    published.push((await publishWorkflow(owner, { id })).version)
  }
  await autosave(id, 2)
  expect(published).toEqual([10, 14, 15])
  expect(await numbered(id)).toEqual([
    [1, null],
    [10, 1],
    [14, 2],
    [15, 3],
    [17, null],
  ])
  const { items } = await listWorkflowVersions(owner, { id, page: {} })
  expect(items.map(({ version }) => version)).toEqual([17, 15, 14, 10, 1])
  expect(items.filter((item) => 'number' in item)).toEqual([])
})

test('of those who publish at the same moment, no two get the same number', async () => {
  const { id } = await createWorkflow(owner, RUNNABLE)
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      // More than once: all of them may save before the first one publishes.
      for (let times = 0; times < 3; times++) {
        await autosave(id, 1)
        await publishWorkflow(owner, { id })
      }
    }),
  )
  const numbers = (await numbered(id)).flatMap(([, number]) => (number === null ? [] : [number]))
  expect(numbers.length).toBeGreaterThan(1)
  expect(numbers).toEqual(numbers.map((_, at) => at + 1))
})

test('a version that is published again keeps its number, and one that takes up newer tools gets the next', async () => {
  const config = (value: number) => ({ code: `return ${value}` })
  const tool = await createTool(owner, { name: 'Rate', kind: 'script', config: config(1) })
  const steps = [{ id: 'use', type: 'call-tool', toolId: tool.id }]
  const { id } = await createWorkflow(owner, { name: 'Rated', initialStep: 'use', steps })
  await publishWorkflow(owner, { id })
  await publishWorkflow(owner, { id })
  await archiveWorkflow(owner, { id })
  await unarchiveWorkflow(owner, { id })
  await publishWorkflow(owner, { id })
  expect(await numbered(id)).toEqual([[1, 1]])
  await updateTool(owner, { id: tool.id, body: { config: config(2) } })
  await publishWorkflow(owner, { id })
  expect(await numbered(id)).toEqual([
    [1, 1],
    [2, 2],
  ])
})

test('a copy begins without a number, and samples and definitions as code have theirs', async () => {
  const { id } = await createWorkflow(owner, RUNNABLE)
  await publishWorkflow(owner, { id })
  const copy = await duplicateWorkflow(owner, { id })
  expect(await numbered(copy.id)).toEqual([[1, null]])

  const ctx = await newTenant(database)
  await addSamples(ctx)
  for (const sample of SAMPLE_WORKFLOWS) expect(await numbered(sample.id, ctx)).toEqual([[1, 1]])

  const apply = (description: string, publish: boolean) =>
    applyDefinitions(ctx, { ...workspace([workflow('wf_code', { description })]), publish })
  await apply('First', true)
  await apply('Not yet', false)
  await apply('Second', true)
  expect(await numbered('wf_code', ctx)).toEqual([
    [1, 1],
    [2, null],
    [3, 2],
  ])
})
