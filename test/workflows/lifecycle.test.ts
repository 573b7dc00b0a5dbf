import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { tools } from '@/db/schema/tools'
import type { ServiceContext } from '@/server/context'
import { startRun } from '@/server/runs/start'
import { getRunStatus } from '@/server/runs/status'
import { getInputSchema } from '@/server/workflows/input-schema'
import {
  archiveWorkflow,
  createWorkflow,
  duplicateWorkflow,
  getWorkflow,
  publishWorkflow,
  unarchiveWorkflow,
  updateWorkflow,
} from '@/server/workflows/lifecycle'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { newScriptTool, newTenant, withRole } from '../support/tenant'
import { outcome, RUNNABLE, refusal, withClock } from './support'

let database: FreshDatabase
let owner: ServiceContext
beforeAll(async () => {
  database = await freshDatabase()
  owner = await newTenant(database)
})
afterAll(() => database.close())

const start = (ctx: ServiceContext, workflowId: string) => startRun(ctx, { workflowId, body: {} })

describe('archiveWorkflow', () => {
  test('returns the whole definition; a repeat changes nothing', async () => {
    const { ctx, pass } = withClock(owner)
    const made = await createWorkflow(ctx, RUNNABLE)
    pass(5)
    const archived = await archiveWorkflow(ctx, { id: made.id })
    const moment = '2026-03-01T09:00:05.000Z'
    expect(archived).toEqual({ ...made, status: 'archived', archivedAt: moment, updatedAt: moment })
    pass(5)
    expect(await archiveWorkflow(withRole(ctx, 'editor'), { id: made.id })).toEqual(archived)
    expect(await getWorkflow(ctx, { id: made.id })).toEqual(archived)
  })

  test('lets no run start, and leaves open ones alone', async () => {
    const { id } = await createWorkflow(owner, RUNNABLE)
    const { runId } = await start(owner, id)
    await archiveWorkflow(owner, { id })
    expect(await outcome(start(owner, id))).toBe('WORKFLOW_ARCHIVED')
    expect(await getRunStatus(owner, { runId })).toMatchObject({ status: 'running', outcome: null })
  })

  test('lets nothing be published', async () => {
    const { id } = await createWorkflow(owner, RUNNABLE)
    await archiveWorkflow(owner, { id })
    expect(await outcome(publishWorkflow(owner, { id }))).toBe('WORKFLOW_ARCHIVED')
  })
})

describe('unarchiveWorkflow', () => {
  test('restores a draft', async () => {
    const made = await createWorkflow(owner, RUNNABLE)
    await archiveWorkflow(owner, { id: made.id })
    const back = await unarchiveWorkflow(owner, { id: made.id })
    expect(back).toEqual({ ...made, updatedAt: back.updatedAt })
    expect((await start(owner, made.id)).workflowVersion).toBe(1)
  })

  test('changes nothing on a workflow that is not archived', async () => {
    const draft = await createWorkflow(owner, RUNNABLE)
    expect(await unarchiveWorkflow(owner, { id: draft.id })).toEqual(draft)
    const { warnings: _, ...published } = await publishWorkflow(owner, { id: draft.id })
    expect(await unarchiveWorkflow(owner, { id: draft.id })).toEqual(published)
  })

  test('keeps starts on the published version, until someone publishes again', async () => {
    const { id } = await createWorkflow(owner, RUNNABLE)
    await publishWorkflow(owner, { id })
    await archiveWorkflow(owner, { id })
    expect(await unarchiveWorkflow(owner, { id })).toMatchObject({ status: 'draft', publishedVersion: 1 })
    await updateWorkflow(owner, { id, body: { payload: { untested: { type: 'string' } } } })
    expect((await start(owner, id)).workflowVersion).toBe(1)
    expect((await getInputSchema(owner, { id })).data.payload).toEqual({})
    expect(await publishWorkflow(owner, { id })).toMatchObject({ status: 'published', version: 2, publishedVersion: 2 })
  })

  test('can be followed by publishing the same version again', async () => {
    const { id } = await createWorkflow(owner, RUNNABLE)
    await publishWorkflow(owner, { id })
    await archiveWorkflow(owner, { id })
    await unarchiveWorkflow(owner, { id })
    expect(await publishWorkflow(owner, { id })).toMatchObject({ status: 'published', version: 1, publishedVersion: 1 })
  })
})

describe('publishWorkflow', () => {
  test('does nothing without a change, even when a tool has been removed since', async () => {
    const { ctx, pass } = withClock(owner)
    const toolId = await newScriptTool(ctx, 'return 1')
    const steps = [{ id: 'call', type: 'call-tool', toolId }, ...RUNNABLE.steps.slice(1)]
    const { id } = await createWorkflow(ctx, { ...RUNNABLE, steps, edges: [{ from: 'call', to: 'end' }] })
    const { warnings, ...published } = await publishWorkflow(ctx, { id })
    expect(warnings).toEqual([])
    expect(published).toMatchObject({ status: 'published', hasUnpublishedChanges: false, publishedVersion: 1 })
    pass(60)
    await database.db.update(tools).set({ status: 'archived' })
    const again = await publishWorkflow(withRole(ctx, 'editor'), { id })
    expect(again).toEqual({ ...published, warnings: [expect.objectContaining({ code: 'TOOL_NOT_FOUND' })] })
  })

  test('names every problem with its step and field, and publishes nothing', async () => {
    const { id } = await createWorkflow(owner, {
      name: 'Broken',
      steps: [
        { id: 'a', type: 'call-tool', toolId: 'tool_missing' },
        { id: 'b', type: 'made-up' },
      ],
      edges: [{ from: 'a', to: 'ghost' }],
    })
    const { code, message, details } = await refusal(publishWorkflow(owner, { id }))
    expect(code).toBe('VALIDATION_FAILED')
    expect(message).toMatch(/^Invalid input/)
    expect(details.map(({ code: problem, stepId, field }) => [problem, stepId, field])).toEqual([
      ['UNKNOWN_STEP_TYPE', 'b', 'type'],
      ['DANGLING_EDGE', 'a', 'edges[0].to'],
      ['TOOL_NOT_FOUND', 'a', 'toolId'],
    ])
    for (const detail of details) expect(detail.message).toMatch(/\S/)
    expect(await getWorkflow(owner, { id })).toMatchObject({ status: 'draft', publishedVersion: null })
  })

  test('publishes the version the caller has seen, or none', async () => {
    const { id } = await createWorkflow(owner, RUNNABLE)
    await updateWorkflow(owner, { id, body: { name: 'Newer' } })
    expect(await outcome(publishWorkflow(owner, { id, ifMatch: '"1"' }))).toBe('VERSION_CONFLICT')
    expect(await publishWorkflow(owner, { id, ifMatch: '"2"' })).toHaveProperty('publishedVersion', 2)
  })
})

describe('cloneWorkflow', () => {
  test('copies the latest saved version, not the published one, into a separate draft', async () => {
    const { id } = await createWorkflow(owner, RUNNABLE)
    await publishWorkflow(owner, { id })
    const body = { name: 'Newest', payload: { who: { type: 'string' } }, onCancel: 'end' }
    const source = await updateWorkflow(owner, { id, body })
    const copy = await duplicateWorkflow(withRole(owner, 'editor'), { id })
    expect(copy).toEqual({
      ...source,
      id: copy.id,
      name: 'Newest (Copy)',
      status: 'draft',
      version: 1,
      publishedVersion: null,
      publishedAt: null,
      createdBy: 'key_editor',
      updatedBy: 'key_editor',
      createdAt: copy.createdAt,
      updatedAt: copy.createdAt,
    })
    expect(copy.id).not.toBe(id)
    await updateWorkflow(owner, { id: copy.id, body: { steps: [], edges: [] } })
    expect(await getWorkflow(owner, { id })).toEqual(source)
  })

  test('always adds the suffix; a long name is cut at its end, never inside a character', async () => {
    const nameOf = async (name: string) => {
      const { id } = await createWorkflow(owner, { ...RUNNABLE, name })
      return (await duplicateWorkflow(owner, { id })).name
    }
    expect(await nameOf('X (Copy)')).toBe('X (Copy) (Copy)')
    expect(await nameOf('x'.repeat(193))).toBe(`${'x'.repeat(193)} (Copy)`)
    expect(await nameOf('x'.repeat(200))).toBe(`${'x'.repeat(193)} (Copy)`)
    expect(await nameOf(`${'x'.repeat(192)}😀${'y'.repeat(6)}`)).toBe(`${'x'.repeat(192)} (Copy)`)
    expect(await nameOf(`${'x'.repeat(191)} ${'y'.repeat(8)}`)).toBe(`${'x'.repeat(191)} y (Copy)`)
  })

  test('can clone an archived workflow', async () => {
    const { id } = await createWorkflow(owner, RUNNABLE)
    await archiveWorkflow(owner, { id })
    expect(await duplicateWorkflow(owner, { id })).toMatchObject({ status: 'draft', archivedAt: null })
  })
})

describe('every change of state', () => {
  const verbs = {
    archive: archiveWorkflow,
    unarchive: unarchiveWorkflow,
    publish: publishWorkflow,
    duplicate: duplicateWorkflow,
  }

  test.each(Object.entries(verbs))('%s: another tenant’s workflow looks like a missing one', async (_, verb) => {
    const stranger = await newTenant(database)
    const made = await createWorkflow(owner, RUNNABLE)
    const errors = await Promise.all([made.id, 'wf_missing', 'wf\u0000'].map((id) => refusal(verb(stranger, { id }))))
    expect(errors.map(({ code, details }) => [code, details])).toEqual(Array(3).fill(['WORKFLOW_NOT_FOUND', []]))
    expect(await getWorkflow(owner, { id: made.id })).toEqual(made)
  })

  test.each(Object.entries(verbs))('%s requires the role editor', async (_, verb) => {
    const { id } = await createWorkflow(owner, RUNNABLE)
    expect(await outcome(verb(withRole(owner, 'operator'), { id }))).toBe('FORBIDDEN')
    expect(await outcome(verb(withRole(owner, 'editor'), { id }))).toHaveProperty('steps')
  })
})
