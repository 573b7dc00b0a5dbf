import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ServiceContext } from '@/server/context'
import {
  archiveWorkflow,
  createWorkflow,
  getWorkflow,
  getWorkflowVersion,
  listWorkflowVersions,
  publishWorkflow,
  restoreWorkflowVersion,
  updateWorkflow,
} from '@/server/workflows/lifecycle'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { newTenant, withRole } from '../support/tenant'
import { outcome, RUNNABLE, refusal, withClock } from './support'

let database: FreshDatabase
let owner: ServiceContext
beforeAll(async () => {
  database = await freshDatabase()
  owner = await newTenant(database)
})
afterAll(() => database.close())

/** Four versions a day apart. The second is published. */
async function withHistory() {
  const { ctx, pass } = withClock(owner)
  const { id } = await createWorkflow(ctx, RUNNABLE)
  const next = async (body: object) => {
    pass(86_400)
    await updateWorkflow(withRole(ctx, 'editor'), { id, body })
  }
  await next({ name: 'Second', payload: { who: { type: 'string' } } })
  await publishWorkflow(ctx, { id })
  await next({ name: 'Third', steps: [], edges: [] })
  await next({ name: 'Fourth', onCancel: 'x' })
  return { ctx, id }
}

describe('listVersions', () => {
  test('returns the newest first, with their differences', async () => {
    const { ctx, id } = await withHistory()
    const { items, total } = await listWorkflowVersions(ctx, { id, page: {} })
    const day = (date: number) => `2026-03-0${date}T09:00:00.000Z`
    const row = (version: number, name: string, createdBy = 'key_editor') => ({
      id,
      version,
      name,
      createdBy,
      createdAt: day(version),
      publishedAt: version === 2 ? day(2) : null,
      current: version === 4,
      published: version === 2,
    })
    expect(total).toBe(4)
    expect(items).toEqual([row(4, 'Fourth'), row(3, 'Third'), row(2, 'Second'), row(1, 'Order', 'key_owner')])
  })

  test('is paged', async () => {
    const { ctx, id } = await withHistory()
    const { items, total } = await listWorkflowVersions(ctx, { id, page: { limit: '2', offset: '1' } })
    expect([items.map(({ version }) => version), total]).toEqual([[3, 2], 4])
    for (const page of [{ limit: '0' }, { limit: '1001' }, { limit: 'x' }, { offset: '-1' }])
      expect(await outcome(listWorkflowVersions(ctx, { id, page }))).toBe('INVALID_INPUT')
  })
})

describe('getVersion', () => {
  test('a version contains the definition as saved then', async () => {
    const { ctx, id } = await withHistory()
    expect(await getWorkflowVersion(ctx, { id, version: '2' })).toMatchObject({
      ...RUNNABLE,
      id,
      version: 2,
      name: 'Second',
      initialStep: 'ask',
      payload: { who: { type: 'string' } },
      published: true,
      current: false,
    })
    expect(await getWorkflowVersion(ctx, { id, version: 'latest' })).toMatchObject({
      version: 4,
      onCancel: 'x',
      steps: [],
    })
    expect(await getWorkflowVersion(ctx, { id, version: 'published' })).toHaveProperty('version', 2)
  })

  test.each(['0', '5', '01', '1.0', '-1', '', 'x', '1\u0000', '99999999999999999999'])(
    'version %j is not found',
    async (version) => {
      const { ctx, id } = await withHistory()
      const { code, details } = await refusal(getWorkflowVersion(ctx, { id, version }))
      expect([code, details[0]?.path]).toEqual(['WORKFLOW_NOT_FOUND', 'version'])
    },
  )

  test('a version that a later save replaced is not found', async () => {
    const { id } = await createWorkflow(owner, RUNNABLE)
    for (const name of ['a', 'b']) await updateWorkflow(owner, { id, body: { name } })
    expect(await outcome(getWorkflowVersion(owner, { id, version: '2' }))).toBe('WORKFLOW_NOT_FOUND')
    expect(await outcome(getWorkflowVersion(owner, { id, version: '3' }))).toHaveProperty('name', 'b')
  })
})

describe('restoreVersion', () => {
  test('saves the old content as a new version and publishes nothing', async () => {
    const { ctx, id } = await withHistory()
    const restored = await restoreWorkflowVersion(ctx, { id, version: '1' })
    expect(restored).toMatchObject({ ...RUNNABLE, payload: {}, version: 5, publishedVersion: 2, status: 'published' })
    expect(restored).not.toHaveProperty('onCancel')
    expect(await getWorkflow(ctx, { id })).toEqual(restored)
    expect((await listWorkflowVersions(ctx, { id, page: {} })).items.map(({ version }) => version)).toEqual([
      5, 4, 3, 2, 1,
    ])
    expect(await getWorkflowVersion(ctx, { id, version: '1' })).toHaveProperty('name', 'Order')
  })

  test('replaces no version, so the previous content can be restored too', async () => {
    const { id } = await createWorkflow(owner, RUNNABLE)
    await updateWorkflow(owner, { id, body: { name: 'Just now' } })
    await restoreWorkflowVersion(owner, { id, version: '1' })
    expect(await restoreWorkflowVersion(owner, { id, version: '2' })).toMatchObject({ name: 'Just now', version: 4 })
  })

  test('does nothing for the current version', async () => {
    const { ctx, id } = await withHistory()
    expect(await restoreWorkflowVersion(ctx, { id, version: '4' })).toEqual(await getWorkflow(ctx, { id }))
    const restored = await restoreWorkflowVersion(ctx, { id, version: '1' })
    expect(await restoreWorkflowVersion(ctx, { id, version: '1' })).toEqual(restored)
  })

  test('is refused on an archived workflow, and after a newer save', async () => {
    const { ctx, id } = await withHistory()
    expect(await outcome(restoreWorkflowVersion(ctx, { id, version: '1', ifMatch: '"3"' }))).toBe('VERSION_CONFLICT')
    await archiveWorkflow(ctx, { id })
    expect(await outcome(restoreWorkflowVersion(ctx, { id, version: '1' }))).toBe('WORKFLOW_ARCHIVED')
  })

  test('requires the role editor', async () => {
    const { ctx, id } = await withHistory()
    expect(await outcome(restoreWorkflowVersion(withRole(ctx, 'operator'), { id, version: '1' }))).toBe('FORBIDDEN')
    expect(await outcome(listWorkflowVersions(withRole(ctx, 'viewer'), { id, page: {} }))).toHaveProperty('total', 4)
  })
})

test('another tenant’s versions look like those of a missing workflow', async () => {
  const { id } = await withHistory()
  const stranger = await newTenant(database)
  const verbs = [
    (which: string) => listWorkflowVersions(stranger, { id: which, page: {} }),
    (which: string) => getWorkflowVersion(stranger, { id: which, version: '1' }),
    (which: string) => restoreWorkflowVersion(stranger, { id: which, version: '1' }),
  ]
  for (const verb of verbs) expect(await refusal(verb(id))).toEqual(await refusal(verb('wf_missing')))
})
