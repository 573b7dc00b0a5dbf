import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ServiceContext } from '@/server/context'
import {
  archiveWorkflow,
  createWorkflow,
  listWorkflows,
  publishWorkflow,
  updateWorkflow,
} from '@/server/workflows/lifecycle'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { newTenant, withRole } from '../support/tenant'
import { outcome, RUNNABLE, refusal, withClock } from './support'

let database: FreshDatabase
beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(() => database.close())

async function tenantWith(...names: (string | { name: string; description: string })[]) {
  const { ctx, pass } = withClock(await newTenant(database))
  const ids: string[] = []
  for (const entry of names) {
    pass(1)
    ids.push((await createWorkflow(ctx, { ...RUNNABLE, ...(typeof entry === 'string' ? { name: entry } : entry) })).id)
  }
  return { ctx, pass, ids }
}

const names = async (ctx: ServiceContext, query: Record<string, string> = {}) =>
  (await listWorkflows(ctx, query)).items.map(({ name }) => name)

describe('listWorkflows', () => {
  test('returns the latest change first, then by id', async () => {
    const { ctx, pass, ids } = await tenantWith('a', 'b')
    pass(1)
    await updateWorkflow(ctx, { id: ids[0] ?? '', body: { name: 'a, edited' } })
    for (const name of ['x', 'y', 'z']) await createWorkflow(ctx, { name })
    const { items } = await listWorkflows(ctx, {})
    expect(items.slice(-1).map(({ name }) => name)).toEqual(['b'])
    const tied = items.slice(0, 4).map(({ id }) => id)
    expect(tied).toEqual([...tied].sort())
  })

  test('returns the documented fields', async () => {
    const { ctx } = await tenantWith('a')
    const moment = '2026-03-01T09:00:01.000Z'
    const [item] = (await listWorkflows(withRole(ctx, 'viewer'), {})).items
    expect(item).toMatchObject({
      name: 'a',
      description: 'Asks',
      status: 'draft',
      createdAt: moment,
      updatedAt: moment,
    })
    expect(item?.id).toMatch(/^wf_/)
  })

  test('leaves archived ones out unless requested', async () => {
    const { ctx, ids } = await tenantWith('draft', 'published', 'archived')
    await publishWorkflow(ctx, { id: ids[1] ?? '' })
    await archiveWorkflow(ctx, { id: ids[2] ?? '' })
    const sorted = async (query: Record<string, string>) => (await names(ctx, query)).sort()
    expect(await sorted({})).toEqual(['draft', 'published'])
    expect(await sorted({ includeArchived: 'false' })).toEqual(['draft', 'published'])
    expect(await sorted({ includeArchived: 'true' })).toEqual(['archived', 'draft', 'published'])
    expect(await sorted({ status: 'draft', includeArchived: 'true' })).toEqual(['draft'])
    expect(await sorted({ status: 'published' })).toEqual(['published'])
    expect(await sorted({ status: 'archived' })).toEqual(['archived'])
    expect(await sorted({ status: 'archived', includeArchived: 'false' })).toEqual(['archived'])
  })

  test('searches name and description, ignoring case', async () => {
    const { ctx } = await tenantWith(
      'Bestellung ÄRGER',
      { name: 'Other', description: 'about ärgerlich things' },
      'None',
    )
    expect((await names(ctx, { search: 'ärger' })).sort()).toEqual(['Bestellung ÄRGER', 'Other'])
    expect(await names(ctx, { search: 'ORDER' })).toEqual([])
    expect(await names(ctx, { search: '' })).toHaveLength(3)
  })

  test.each(['%', '_', '\\', '\\%', '100%', "'", '"', 'a\\', '${x}', '<'])('%j is searched as it is', async (text) => {
    const { ctx } = await tenantWith(`with ${text} inside`, 'without: 100 abc')
    expect(await names(ctx, { search: text })).toEqual([`with ${text} inside`])
  })

  test('accepts a search of up to 200 characters', async () => {
    const { ctx } = await tenantWith('x'.repeat(200))
    expect(await names(ctx, { search: 'x'.repeat(200) })).toHaveLength(1)
    expect(await outcome(listWorkflows(ctx, { search: 'x'.repeat(201) }))).toBe('INVALID_INPUT')
  })

  test('pages by limit and offset, and always returns the total', async () => {
    const { ctx } = await tenantWith('e', 'd', 'c', 'b', 'a')
    expect(await names(ctx, { limit: '2' })).toEqual(['a', 'b'])
    expect(await names(ctx, { limit: '2', offset: '4' })).toEqual(['e'])
    expect(await names(ctx, { offset: '3' })).toEqual(['d', 'e'])
    const beyond = await listWorkflows(ctx, { limit: '1000', offset: '999999999' })
    expect([beyond.items, beyond.total]).toEqual([[], 5])
    expect(await listWorkflows(ctx, { search: 'c', limit: '1' })).toHaveProperty('total', 1)
  })

  test.each([
    { status: 'deleted' },
    { status: 'Draft' },
    { status: '' },
    { includeArchived: '1' },
    { includeArchived: 'TRUE' },
    { includeArchived: '' },
    { limit: '0' },
    { limit: '1001' },
    { limit: '-1' },
    { limit: '1.5' },
    { limit: '1e2' },
    { limit: ' 1' },
    { limit: '٣' },
    { limit: '' },
    { offset: '-1' },
    { offset: 'x' },
    { offset: '9999999999' },
    { search: 'a\u0000' },
    { search: '\uD800' },
    { search: 'a\uFFFD' },
  ])('rejects %j, and names the field', async (query) => {
    const { ctx } = await tenantWith()
    const { code, details } = await refusal(listWorkflows(ctx, query))
    expect([code, details[0]?.path]).toEqual(['INVALID_INPUT', Object.keys(query)[0]])
  })

  test('shows nothing of another tenant', async () => {
    const { ctx } = await tenantWith('theirs')
    const stranger = await newTenant(database)
    expect(await listWorkflows(stranger, { search: 'theirs' })).toMatchObject({ items: [], total: 0 })
    expect(await names(ctx)).toEqual(['theirs'])
  })
})
