import { and, eq } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runs } from '@/db/schema/runs'
import { workflowVersions } from '@/db/schema/workflows'
import type { ServiceContext } from '@/server/context'
import { ROLES } from '@/server/roles'
import { startRun } from '@/server/runs/start'
import { getRunStatus } from '@/server/runs/status'
import { deleteWorkflowPermanently } from '@/server/workflows/delete-permanently'
import {
  archiveWorkflow,
  createWorkflow,
  getWorkflow,
  publishWorkflow,
  updateWorkflow,
} from '@/server/workflows/lifecycle'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { newTenant, withRole } from '../support/tenant'
import { outcome, RUNNABLE, refusal } from './support'

let database: FreshDatabase
let owner: ServiceContext
beforeAll(async () => {
  database = await freshDatabase()
  owner = await newTenant(database)
})
afterAll(() => database.close())

async function archived(): Promise<string> {
  const { id } = await createWorkflow(owner, RUNNABLE)
  await archiveWorkflow(owner, { id })
  return id
}

async function versionsOf(id: string): Promise<number[]> {
  const rows = await database.db
    .select({ version: workflowVersions.version })
    .from(workflowVersions)
    .where(eq(workflowVersions.workflowId, id))
    .orderBy(workflowVersions.version)
  return rows.map(({ version }) => version)
}

const complete = (runId: string) =>
  database.db
    .update(runs)
    .set({ status: 'completed', outcome: 'succeeded', endTime: new Date() })
    .where(and(eq(runs.tenantId, owner.tenantId), eq(runs.id, runId)))

describe('deleteWorkflowPermanently', () => {
  test('removes the workflow and its versions forever', async () => {
    const id = await archived()
    expect(await deleteWorkflowPermanently(owner, { id })).toEqual({ id, deleted: true })
    expect(await outcome(getWorkflow(owner, { id }))).toBe('WORKFLOW_NOT_FOUND')
    expect(await outcome(deleteWorkflowPermanently(owner, { id }))).toBe('WORKFLOW_NOT_FOUND')
    expect(await versionsOf(id)).toEqual([])
  })

  test('requires an archived workflow', async () => {
    const { id } = await createWorkflow(owner, RUNNABLE)
    expect(await outcome(deleteWorkflowPermanently(owner, { id }))).toBe('WORKFLOW_NOT_ARCHIVED')
    await publishWorkflow(owner, { id })
    expect(await outcome(deleteWorkflowPermanently(owner, { id }))).toBe('WORKFLOW_NOT_ARCHIVED')
    expect(await getWorkflow(owner, { id })).toHaveProperty('status', 'published')
  })

  test.each(ROLES.filter((role) => role !== 'owner'))('is not for the role %s', async (role) => {
    const id = await archived()
    expect(await outcome(deleteWorkflowPermanently(withRole(owner, role), { id }))).toBe('FORBIDDEN')
    expect(await getWorkflow(owner, { id })).toHaveProperty('status', 'archived')
  })

  test('finds nothing for another tenant’s owner', async () => {
    const id = await archived()
    const stranger = await newTenant(database)
    expect(await refusal(deleteWorkflowPermanently(stranger, { id }))).toEqual(
      await refusal(deleteWorkflowPermanently(stranger, { id: 'wf_missing' })),
    )
    expect(await getWorkflow(owner, { id })).toHaveProperty('status', 'archived')
  })

  test.each(['yes', '1', 'TRUE', ''])('terminateRuns=%j is invalid input', async (terminateRuns) => {
    const id = await archived()
    expect(await outcome(deleteWorkflowPermanently(owner, { id, query: { terminateRuns } }))).toBe('INVALID_INPUT')
  })

  test('is refused while a run is open', async () => {
    const { id } = await createWorkflow(owner, RUNNABLE)
    const { runId } = await startRun(owner, { workflowId: id, body: {} })
    await archiveWorkflow(owner, { id })
    for (const query of [{}, { terminateRuns: 'false' }]) {
      const { code, status, details } = await refusal(deleteWorkflowPermanently(owner, { id, query }))
      expect([code, status, details[0]?.openRuns]).toEqual(['CONFLICT', 409, 1])
    }
    await complete(runId)
    expect(await outcome(deleteWorkflowPermanently(owner, { id }))).toHaveProperty('deleted', true)
  })

  test('with terminateRuns=true ends the open runs first, and only those', async () => {
    const { id } = await createWorkflow(owner, RUNNABLE)
    const other = await createWorkflow(owner, RUNNABLE)
    const start = async (workflowId: string) => (await startRun(owner, { workflowId, body: {} })).runId
    const [ended, ...open] = [await start(id), await start(id), await start(id)]
    const elsewhere = await start(other.id)
    await complete(ended ?? '')
    await archiveWorkflow(owner, { id })
    expect(await deleteWorkflowPermanently(owner, { id, query: { terminateRuns: 'true' } })).toHaveProperty('id', id)
    for (const runId of open)
      expect(await getRunStatus(owner, { runId })).toMatchObject({ status: 'failed', outcome: 'terminated' })
    expect(await getRunStatus(owner, { runId: ended ?? '' })).toMatchObject({
      status: 'completed',
      outcome: 'succeeded',
    })
    expect(await getRunStatus(owner, { runId: elsewhere })).toMatchObject({ status: 'running', outcome: null })
  })

  test('with terminateRuns=true ends no run of a workflow that may not be deleted', async () => {
    const { id } = await createWorkflow(owner, RUNNABLE)
    const { runId } = await startRun(owner, { workflowId: id, body: {} })
    const query = { terminateRuns: 'true' }
    expect(await outcome(deleteWorkflowPermanently(owner, { id, query }))).toBe('WORKFLOW_NOT_ARCHIVED')
    await archiveWorkflow(owner, { id })
    expect(await outcome(deleteWorkflowPermanently(withRole(owner, 'admin'), { id, query }))).toBe('FORBIDDEN')
    expect(await outcome(deleteWorkflowPermanently(await newTenant(database), { id, query }))).toBe(
      'WORKFLOW_NOT_FOUND',
    )
    expect(await getRunStatus(owner, { runId })).toMatchObject({ status: 'running' })
  })

  test('keeps the history of its runs, with the name they started under and the versions they ran on', async () => {
    const { id } = await createWorkflow(owner, { ...RUNNABLE, name: 'As started' })
    const { runId } = await startRun(owner, { workflowId: id, body: {} })
    await complete(runId)
    await updateWorkflow(owner, { id, body: { name: 'Renamed' } })
    await archiveWorkflow(owner, { id })
    await deleteWorkflowPermanently(owner, { id })
    expect(await versionsOf(id)).toEqual([1])
    expect(await getRunStatus(owner, { runId })).toMatchObject({
      workflowId: id,
      workflowName: 'As started',
      workflowVersion: 1,
      status: 'completed',
    })
    expect(await outcome(startRun(owner, { workflowId: id, body: {} }))).toBe('WORKFLOW_NOT_FOUND')
  })
})
