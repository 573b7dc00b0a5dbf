import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { workflows } from '@/db/schema/workflows'
import type { ServiceContext } from '@/server/context'
import { startRun } from '@/server/runs/start'
import {
  archiveWorkflow,
  createWorkflow,
  getWorkflow,
  listWorkflowVersions,
  publishWorkflow,
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

const kept = async (ctx: ServiceContext, id: string) =>
  (await listWorkflowVersions(ctx, { id, page: {} })).items.map(({ version }) => version)

describe('updateWorkflow', () => {
  test('replaces the fields that the body names and keeps the rest', async () => {
    const payload = { who: { type: 'string' } }
    const made = await createWorkflow(owner, { ...RUNNABLE, payload, onCancel: 'ask' })
    const renamed = await updateWorkflow(owner, { id: made.id, body: { name: 'Renamed' } })
    expect(renamed).toMatchObject({ ...RUNNABLE, name: 'Renamed', payload, onCancel: 'ask', version: 2 })
    const emptied = await updateWorkflow(owner, { id: made.id, body: { steps: [], edges: [], payload: {} } })
    expect(emptied).toMatchObject({ name: 'Renamed', steps: [], edges: [], payload: {}, version: 3 })
    expect(await getWorkflow(owner, { id: made.id })).toEqual(emptied)
  })

  test('onCancel: null removes the cleanup path, absent keeps it', async () => {
    const { id } = await createWorkflow(owner, { ...RUNNABLE, onCancel: 'ask' })
    expect(await updateWorkflow(owner, { id, body: { description: 'x' } })).toHaveProperty('onCancel', 'ask')
    expect(await updateWorkflow(owner, { id, body: { onCancel: null } })).not.toHaveProperty('onCancel')
  })

  test('initialStep: null means the first step; absent keeps it', async () => {
    const { id } = await createWorkflow(owner, { name: 'n' })
    expect(await updateWorkflow(owner, { id, body: RUNNABLE })).toHaveProperty('initialStep', 'ask')
    expect(await updateWorkflow(owner, { id, body: { initialStep: 'end' } })).toHaveProperty('initialStep', 'end')
    expect(await updateWorkflow(owner, { id, body: { name: 'm' } })).toHaveProperty('initialStep', 'end')
    expect(await updateWorkflow(owner, { id, body: { initialStep: null } })).toHaveProperty('initialStep', 'ask')
  })

  test('a body without changes makes no version, in any order of its keys', async () => {
    const made = await createWorkflow(owner, RUNNABLE)
    const [first, ...rest] = RUNNABLE.steps
    const reordered = Object.fromEntries(Object.entries(first ?? {}).reverse())
    for (const body of [{}, { name: ' Order ' }, { ...made }, { steps: [reordered, ...rest] }])
      expect(await updateWorkflow(owner, { id: made.id, body })).toEqual(made)
    expect(await kept(owner, made.id)).toEqual([1])
  })

  test('the order of fields is a change, and is kept, because forms use it', async () => {
    const fields = (...names: string[]) => Object.fromEntries(names.map((name) => [name, { type: 'string' as const }]))
    const form = { id: 'ask', type: 'collect-inputs', output: fields('when', 'amount', 'a') }
    const made = await createWorkflow(owner, { name: 'n', steps: [form], payload: fields('reason', 'by') })
    const order = ({ payload, steps }: Awaited<ReturnType<typeof getWorkflow>>) => [
      Object.keys(payload),
      Object.keys(steps[0]?.output ?? {}),
    ]
    expect(order(await getWorkflow(owner, { id: made.id }))).toEqual([
      ['reason', 'by'],
      ['when', 'amount', 'a'],
    ])
    const moved = { steps: [{ ...form, output: fields('a', 'when', 'amount') }], payload: fields('by', 'reason') }
    expect(await updateWorkflow(owner, { id: made.id, body: moved })).toHaveProperty('version', 2)
    expect(order(await getWorkflow(owner, { id: made.id }))).toEqual([
      ['by', 'reason'],
      ['a', 'when', 'amount'],
    ])
  })

  test('the order of steps is a change', async () => {
    const { id } = await createWorkflow(owner, RUNNABLE)
    expect(await updateWorkflow(owner, { id, body: { steps: RUNNABLE.steps.toReversed() } })).toHaveProperty(
      'version',
      2,
    )
  })

  test('a published workflow stays published and keeps running the published version', async () => {
    const { id } = await createWorkflow(owner, RUNNABLE)
    await publishWorkflow(owner, { id })
    const edited = await updateWorkflow(owner, { id, body: { name: 'Edited' } })
    expect(edited).toMatchObject({ status: 'published', version: 2, publishedVersion: 1, hasUnpublishedChanges: true })
    expect((await startRun(owner, { workflowId: id, body: {} })).workflowVersion).toBe(1)
  })

  test('read-only fields are ignored', async () => {
    const made = await createWorkflow(owner, RUNNABLE)
    const theirs = {
      id: 'wf_other',
      tenantId: 'ten_other',
      tenant_id: 'ten_other',
      status: 'published',
      publishedVersion: 1,
      createdAt: '2000-01-01T00:00:00Z',
      createdBy: 'somebody',
      role: 'owner',
    }
    const [before] = await database.db.select().from(workflows).where(eq(workflows.id, made.id))
    expect(await updateWorkflow(owner, { id: made.id, body: theirs })).toEqual(made)
    const [after] = await database.db.select().from(workflows).where(eq(workflows.id, made.id))
    expect(after).toEqual(before)
    const created = await createWorkflow(owner, { ...RUNNABLE, ...theirs })
    expect(created).toMatchObject({ status: 'draft', publishedVersion: null, createdBy: 'key_owner' })
    expect(created.id).not.toBe('wf_other')
    const [row] = await database.db.select().from(workflows).where(eq(workflows.id, created.id))
    expect(row?.tenantId).toBe(owner.tenantId)
  })

  test('a stale version is a conflict that names the current one, by header or by field', async () => {
    const { id } = await createWorkflow(owner, RUNNABLE)
    await updateWorkflow(owner, { id, body: { name: 'B' }, ifMatch: '"1"' })
    for (const stale of [
      { id, body: { name: 'C' }, ifMatch: '"1"' },
      { id, body: { name: 'C', version: 1 } },
      { id, body: { name: 'C', version: 1 }, ifMatch: '"2"' },
      { id, body: { name: 'B' }, ifMatch: '"3", "1"' },
    ]) {
      const { code, details } = await refusal(updateWorkflow(owner, stale))
      expect(code).toBe('VERSION_CONFLICT')
      expect(details[0]).toMatchObject({ currentVersion: 2 })
    }
    expect(await getWorkflow(owner, { id })).toMatchObject({ name: 'B', version: 2 })
    await updateWorkflow(owner, { id, body: { name: 'C', version: 2 }, ifMatch: '"1", "2"' })
    await updateWorkflow(owner, { id, body: { name: 'D', version: null }, ifMatch: ' * ' })
    expect(await getWorkflow(owner, { id })).toMatchObject({ name: 'D', version: 4 })
  })

  test.each(['W/"1"', 'W/"1", "7"', '"1-gzip"', '"1--br"', 'W/"1-gzip"'])(
    'an If-Match of %s is the version that a proxy has made its tag of',
    async (ifMatch) => {
      const { id } = await createWorkflow(owner, RUNNABLE)
      await updateWorkflow(owner, { id, body: { name: 'x' }, ifMatch })
      expect(await outcome(updateWorkflow(owner, { id, body: { name: 'y' }, ifMatch }))).toBe('VERSION_CONFLICT')
    },
  )

  test.each(['3', 'W/3', 'W/"three"', '"3-other"', '"three"', '"1",', ''])(
    'an If-Match of %j is refused, not ignored',
    async (ifMatch) => {
      const { id } = await createWorkflow(owner, RUNNABLE)
      expect(await outcome(updateWorkflow(owner, { id, body: { name: 'x' }, ifMatch }))).toBe('INVALID_INPUT')
    },
  )

  test.each([
    { name: '' },
    { name: '   ' },
    { name: null },
    { name: 'x'.repeat(201) },
    { name: 'a\u0000b' },
    { description: '\uD800' },
    { description: null },
    { steps: {} },
    { steps: [{ id: 'a' }] },
    { steps: [{ id: 'a', type: 'call-tool', args: { x: '${a.__proto__}' } }] },
    { edges: [{ from: 'a' }] },
    { payload: { _: { type: 'string' } } },
    { version: '1' },
    { version: 1.5 },
    null,
    [],
    'text',
  ])('%j is invalid input and changes nothing', async (body) => {
    const made = await createWorkflow(owner, RUNNABLE)
    expect(await outcome(updateWorkflow(owner, { id: made.id, body }))).toBe('INVALID_INPUT')
    expect(await getWorkflow(owner, { id: made.id })).toEqual(made)
  })

  test('an archived workflow cannot be changed, not even by a body without changes', async () => {
    const { id } = await createWorkflow(owner, RUNNABLE)
    await archiveWorkflow(owner, { id })
    expect(await outcome(updateWorkflow(owner, { id, body: {} }))).toBe('WORKFLOW_ARCHIVED')
  })

  test('another tenant’s workflow looks like a missing one', async () => {
    const stranger = await newTenant(database)
    const { id } = await createWorkflow(owner, RUNNABLE)
    const [foreign, missing] = await Promise.all(
      [id, 'wf_missing'].map((which) => refusal(updateWorkflow(stranger, { id: which, body: { name: 'Mine' } }))),
    )
    expect(foreign).toEqual(missing)
    expect(await getWorkflow(owner, { id })).toHaveProperty('name', 'Order')
  })

  test('an operator may not edit', async () => {
    const { id } = await createWorkflow(owner, RUNNABLE)
    expect(await outcome(updateWorkflow(withRole(owner, 'operator'), { id, body: {} }))).toBe('FORBIDDEN')
  })
})

describe('a burst of autosaves', () => {
  const save = (ctx: ServiceContext, id: string, name: string) => updateWorkflow(ctx, { id, body: { name } })

  test('leaves one version, and each save has its own number', async () => {
    const { ctx, pass } = withClock(owner)
    const { id } = await createWorkflow(ctx, RUNNABLE)
    for (const [index, name] of ['a', 'b', 'c'].entries()) {
      pass(59)
      expect(await save(ctx, id, name)).toHaveProperty('version', index + 2)
    }
    expect(await kept(ctx, id)).toEqual([4, 1])
    expect(await outcome(updateWorkflow(ctx, { id, body: { name: 'd' }, ifMatch: '"3"' }))).toBe('VERSION_CONFLICT')
  })

  test('ends after a minute without saves, and with another person, a publish or a run', async () => {
    const { ctx, pass } = withClock(owner)
    const { id } = await createWorkflow(ctx, RUNNABLE)
    await save(ctx, id, 'v2')
    pass(60)
    await save(ctx, id, 'v3')
    await save(withRole(ctx, 'editor'), id, 'v4')
    expect(await kept(ctx, id)).toEqual([4, 3, 2, 1])
    await save(ctx, id, 'v5')
    await publishWorkflow(ctx, { id })
    await save(ctx, id, 'v6')
    await startRun(ctx, { workflowId: id, body: {}, version: 'latest' })
    await save(ctx, id, 'v7')
    await save(ctx, id, 'v8')
    expect(await kept(ctx, id)).toEqual([8, 6, 5, 4, 3, 2, 1])
  })

  test('is split after ten minutes, so that steady saving leaves a history', async () => {
    const { ctx, pass } = withClock(owner)
    const { id } = await createWorkflow(ctx, RUNNABLE)
    for (let minute = 0; minute < 25; minute += 0.5) {
      pass(30)
      await save(ctx, id, `at ${minute}`)
    }
    expect((await kept(ctx, id)).length).toBe(4)
  })
})
