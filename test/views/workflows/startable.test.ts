import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ServiceContext } from '@/server/context'
import { browseStartable, readStartPage } from '@/server/views/workflows/startable'
import { archiveWorkflow, createWorkflow, publishWorkflow, updateWorkflow } from '@/server/workflows/lifecycle'
import { type FreshDatabase, freshDatabase } from '../../support/db'
import { newTenant, withRole } from '../../support/tenant'
import { outcome, RUNNABLE } from '../../workflows/support'

let database: FreshDatabase
beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(() => database.close())

async function published(ctx: ServiceContext, definition: object): Promise<string> {
  const { id } = await createWorkflow(ctx, { ...RUNNABLE, ...definition })
  await publishWorkflow(ctx, { id })
  return id
}

const names = async (ctx: ServiceContext, input: object = {}) =>
  (await browseStartable(ctx, input)).items.map(({ name }) => name)

test('lists published workflows that are not archived, by the name and description of the published version', async () => {
  const ctx = await newTenant(database)
  const refund = await published(ctx, { name: 'refund', description: 'Give 100 % back' })
  await published(ctx, { name: 'Approval' })
  await createWorkflow(ctx, { ...RUNNABLE, name: 'Never published' })
  await archiveWorkflow(ctx, { id: await published(ctx, { name: 'Archived' }) })
  await published(await newTenant(database), { name: 'Of another workspace' })
  await updateWorkflow(ctx, { id: refund, body: { name: 'Renamed in the draft', description: 'Draft' } as never })
  const operator = withRole(ctx, 'operator')
  expect(await browseStartable(operator, {})).toMatchObject({
    items: [
      { name: 'Approval', description: 'Asks' },
      { id: refund, name: 'refund', description: 'Give 100 % back' },
    ],
    total: 2,
  })
  expect(await names(operator, { q: '100 %' })).toEqual(['refund'])
  expect(await names(operator, { q: 'APPROV' })).toEqual(['Approval'])
  expect(await names(operator, { q: 'Renamed' })).toEqual([])
  expect(await browseStartable(operator, { page: 2 })).toMatchObject({ items: [], total: 2 })
})

test('a start page shows the published form, or why there is none, only to people who may start runs', async () => {
  const ctx = await newTenant(database)
  const payload = {
    reason: { type: 'string', label: 'Reason' },
    iban: { type: 'string', sensitive: true, default: 'DE02120300000000202051' },
  }
  const id = await published(ctx, { name: 'Refund', description: 'Gives money back.', payload })
  await updateWorkflow(ctx, { id, body: { name: 'Draft', payload: {} } as never })
  const operator = withRole(ctx, 'operator')
  const page = await readStartPage(operator, { id })
  expect(page).toMatchObject({ state: 'open', name: 'Refund', description: 'Gives money back.', number: 1 })
  expect(page).toMatchObject({ fields: { reason: { label: 'Reason' }, iban: { sensitive: true, required: false } } })
  expect(JSON.stringify(page)).not.toContain('DE02')
  const draft = await createWorkflow(ctx, { ...RUNNABLE, name: 'New' })
  expect(await readStartPage(operator, { id: draft.id })).toEqual({ state: 'unpublished', name: 'New' })
  await archiveWorkflow(ctx, { id })
  expect(await readStartPage(operator, { id })).toEqual({ state: 'archived', name: 'Draft' })
  const viewer = withRole(ctx, 'viewer')
  expect(await outcome(readStartPage(viewer, { id }))).toBe('FORBIDDEN')
  expect(await outcome(browseStartable(viewer, {}))).toBe('FORBIDDEN')
  const elsewhere = await newTenant(database)
  expect(await outcome(readStartPage(elsewhere, { id }))).toBe('WORKFLOW_NOT_FOUND')
})
