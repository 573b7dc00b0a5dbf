import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ServiceContext } from '@/server/context'
import { startRun } from '@/server/runs/start'
import { addSamples, createFromSample } from '@/server/tenants/boot/add-samples'
import { type BrowseWorkflows, browseWorkflows } from '@/server/views/workflows/browse'
import { checkDefinition } from '@/server/workflows/check/definition'
import { deleteWorkflowPermanently } from '@/server/workflows/delete-permanently'
import { exportWorkflow } from '@/server/workflows/export'
import {
  archiveWorkflow,
  createWorkflow,
  publishWorkflow,
  unarchiveWorkflow,
  undoArchiveWorkflow,
  updateWorkflow,
} from '@/server/workflows/lifecycle'
import { SAMPLE_WORKFLOWS } from '@/server/workflows/samples'
import { type FreshDatabase, freshDatabase } from '../../support/db'
import { newTenant, withRole } from '../../support/tenant'
import { outcome, RUNNABLE, withClock } from '../../workflows/support'

let database: FreshDatabase
beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(() => database.close())

const names = async (ctx: ServiceContext, query: BrowseWorkflows = {}) =>
  (await browseWorkflows(ctx, query)).items.map(({ name }) => name)

async function make(ctx: ServiceContext, name: string, description = ''): Promise<string> {
  return (await createWorkflow(ctx, { ...RUNNABLE, name, description })).id
}

describe('browseWorkflows', () => {
  test('sorts, pages and counts matches, with archived ones only on request', async () => {
    const { ctx, pass } = withClock(await newTenant(database))
    const ids: string[] = []
    for (const name of ['banana', 'Apple', 'cherry']) {
      pass(1)
      ids.push(await make(ctx, name))
    }
    expect(await names(ctx)).toEqual(['cherry', 'Apple', 'banana'])
    expect(await names(ctx, { sort: 'name' })).toEqual(['Apple', 'banana', 'cherry'])
    const second = await browseWorkflows(ctx, { sort: 'name', limit: 2, page: 2 })
    expect(second).toMatchObject({ total: 3, page: 2, items: [{ name: 'cherry' }] })
    await publishWorkflow(ctx, { id: ids[0] ?? '' })
    await archiveWorkflow(ctx, { id: ids[1] ?? '' })
    expect(await names(ctx, { status: 'published' })).toEqual(['banana'])
    expect(await names(ctx, { archived: true })).toEqual(['Apple'])
    expect(await names(ctx, { sort: 'name' })).toEqual(['banana', 'cherry'])
  })

  test('treats the search as plain text, in names, descriptions and whole ids', async () => {
    const ctx = await newTenant(database)
    const id = await make(ctx, '100% cotton', 'under_score')
    await make(ctx, '1000 cottons', 'underXscore')
    expect(await names(ctx, { q: '100%' })).toEqual(['100% cotton'])
    expect(await names(ctx, { q: 'under_' })).toEqual(['100% cotton'])
    expect(await names(ctx, { q: id })).toEqual(['100% cotton'])
    expect(await outcome(browseWorkflows(ctx, { q: '\u0000' }))).toBe('INVALID_INPUT')
  })

  test('counts the changes of publishing, and nothing while nothing is published', async () => {
    const ctx = await newTenant(database)
    const id = await make(ctx, 'Order')
    const changes = async () => (await browseWorkflows(ctx, {})).items[0]?.unpublishedChanges
    expect(await changes()).toBe(0)
    await publishWorkflow(ctx, { id })
    await updateWorkflow(ctx, { id, body: { name: 'Orders', payload: { item: { type: 'string' } } } })
    expect(await changes()).toBe(2)
    await updateWorkflow(ctx, { id, body: { name: 'Order', payload: {} } })
    expect(await changes()).toBe(0)
  })

  test('shows this tenant’s latest run, whichever version it ran on', async () => {
    const { ctx, pass } = withClock(await newTenant(database))
    const id = await make(ctx, 'Order')
    expect((await browseWorkflows(ctx, {})).items[0]?.lastRun).toBeNull()
    await publishWorkflow(ctx, { id })
    await updateWorkflow(ctx, { id, body: { description: 'newer' } })
    pass(1)
    await startRun(ctx, { workflowId: id, body: {}, version: 'latest' })
    pass(1)
    const { runId } = await startRun(ctx, { workflowId: id, body: {} })
    expect((await browseWorkflows(ctx, {})).items[0]?.lastRun).toMatchObject({ runId, state: 'running' })
    expect(await names(await newTenant(database))).toEqual([])
  })
})

test('undoing an archive restores the workflow as it was; unarchiving returns it to draft', async () => {
  const ctx = await newTenant(database)
  const [draft, live] = [await make(ctx, 'draft'), await make(ctx, 'live')]
  await publishWorkflow(ctx, { id: live })
  for (const id of [draft, live]) await archiveWorkflow(ctx, { id })
  expect((await undoArchiveWorkflow(ctx, { id: draft })).status).toBe('draft')
  expect((await undoArchiveWorkflow(ctx, { id: live })).status).toBe('published')
  expect((await undoArchiveWorkflow(ctx, { id: live })).status).toBe('published')
  await archiveWorkflow(ctx, { id: live })
  expect((await unarchiveWorkflow(ctx, { id: live })).status).toBe('draft')
  expect(await outcome(undoArchiveWorkflow(withRole(ctx, 'operator'), { id: live }))).toBe('FORBIDDEN')
})

describe('exportWorkflow', () => {
  test('returns a body that creates the same definition again', async () => {
    const ctx = await newTenant(database)
    const id = await make(ctx, 'Order', 'Asks')
    const exported = await exportWorkflow(withRole(ctx, 'viewer'), { id })
    const again = await createWorkflow(ctx, JSON.parse(JSON.stringify(exported)))
    expect(await exportWorkflow(ctx, { id: again.id })).toEqual(exported)
    expect(await outcome(exportWorkflow(await newTenant(database), { id }))).toBe('WORKFLOW_NOT_FOUND')
  })
})

describe('samples', () => {
  test('are added where missing, and existing workflows are left alone', async () => {
    const ctx = await newTenant(database)
    expect((await addSamples(ctx)).added).toEqual(SAMPLE_WORKFLOWS.map(({ id }) => id))
    // They contain no problems, even by the declared results of their tools and agents.
    for (const { id, definition } of SAMPLE_WORKFLOWS) expect(await checkDefinition(ctx, definition), id).toEqual([])
    await updateWorkflow(ctx, { id: 'wf_hello', body: { name: 'Mine' } })
    expect((await addSamples(ctx)).added).toEqual([])
    expect(await names(ctx, { q: 'Mine' })).toEqual(['Mine'])
    expect(await outcome(addSamples(withRole(ctx, 'operator')))).toBe('FORBIDDEN')
  })

  test('are added under another id when runs of a deleted one remain', async () => {
    const ctx = await newTenant(database)
    await addSamples(ctx)
    await startRun(ctx, { workflowId: 'wf_hello', body: { name: 'Ada' } })
    await archiveWorkflow(ctx, { id: 'wf_hello' })
    await deleteWorkflowPermanently(ctx, { id: 'wf_hello', query: { terminateRuns: 'true' } })
    const { added } = await addSamples(ctx)
    expect(added).toHaveLength(1)
    expect(added[0]).not.toBe('wf_hello')
  })

  test('create workflows together with the tools they call', async () => {
    const ctx = await newTenant(database)
    const { id, status } = await createFromSample(withRole(ctx, 'editor'), { sampleId: 'wf_hello', name: 'Greeting' })
    expect(status).toBe('draft')
    expect((await publishWorkflow(ctx, { id })).status).toBe('published')
    expect(await outcome(createFromSample(ctx, { sampleId: 'wf_none', name: 'x' }))).toBe('WORKFLOW_NOT_FOUND')
    expect(await outcome(createFromSample(withRole(ctx, 'operator'), { sampleId: 'wf_hello', name: 'x' }))).toBe(
      'FORBIDDEN',
    )
  })
})
