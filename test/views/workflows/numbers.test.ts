import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ServiceContext } from '@/server/context'
import { startRun } from '@/server/runs/start'
import { browseAudit } from '@/server/views/audit'
import { readStepFigures } from '@/server/views/insights/steps'
import { browseRuns } from '@/server/views/runs/browse'
import { getRunOverview } from '@/server/views/runs/overview'
import { browseWorkflows } from '@/server/views/workflows/browse'
import { readCallers } from '@/server/views/workflows/callers'
import { getChanges } from '@/server/views/workflows/changes'
import { getDraft } from '@/server/views/workflows/get-draft'
import { readVersion } from '@/server/views/workflows/one-version'
import { versionHistory } from '@/server/views/workflows/version-history'
import { deleteWorkflowPermanently } from '@/server/workflows/delete-permanently'
import {
  archiveWorkflow,
  createWorkflow,
  getWorkflowVersion,
  publishWorkflow,
  restoreWorkflowVersion,
  unarchiveWorkflow,
  updateWorkflow,
} from '@/server/workflows/lifecycle'
import { type FreshDatabase, freshDatabase } from '../../support/db'
import { newTenant } from '../../support/tenant'

let database: FreshDatabase
let owner: ServiceContext
beforeAll(async () => {
  database = await freshDatabase()
  owner = await newTenant(database)
})
afterAll(() => database.close())

const END = { steps: [{ id: 'end', type: 'end-flow', output: {} }], initialStep: 'end', edges: [] }

/** Published as v1 and v2, which are versions 3 and 5 of the API; 6 is the draft. */
async function twicePublished(ctx = owner): Promise<string> {
  const { id } = await createWorkflow(ctx, { name: 'Counted', ...END })
  const save = (description: string) => updateWorkflow(ctx, { id, body: { description } })
  for (const texts of [['a', 'b'], ['c', 'd'], ['e']]) {
    for (const text of texts) await save(text)
    if (texts.length > 1) await publishWorkflow(ctx, { id })
  }
  return id
}

test('the list, the draft and the history of a workflow show numbers of publications beside the API’s versions', async () => {
  const id = await twicePublished()
  const { items } = await browseWorkflows(owner, {})
  expect(items.find((item) => item.id === id)).toMatchObject({ version: 6, publishedVersion: 5, publishedNumber: 2 })
  expect(await getDraft(owner, { id })).toMatchObject({
    publishedVersion: 5,
    publishedNumber: 2,
    unpublishedChanges: 1,
  })
  const history = await versionHistory(owner, { id, page: {} })
  expect(history.items.map(({ version, number }) => [version, number])).toEqual([
    [6, null],
    [5, 2],
    [3, 1],
    [1, null],
  ])
  expect(await readVersion(owner, { id, version: '5' })).toEqual({
    ...(await getWorkflowVersion(owner, { id, version: '5' })),
    number: 2,
  })
  const { id: draft } = await createWorkflow(owner, { name: 'Draft', ...END })
  expect(await getDraft(owner, { id: draft })).toMatchObject({ publishedVersion: null, publishedNumber: null })
})

test('the publish dialog says which number a version will get', async () => {
  const id = await twicePublished()
  const announced = async () => (await getChanges(owner, { id })).numbers
  expect(await announced()).toEqual({ from: 2, to: 3 })
  await publishWorkflow(owner, { id })
  expect(await announced()).toEqual({ from: 3, to: 3 })
  await archiveWorkflow(owner, { id })
  await unarchiveWorkflow(owner, { id })
  expect(await announced()).toEqual({ from: 3, to: 3 })
  await publishWorkflow(owner, { id })
  expect((await versionHistory(owner, { id, page: {} })).items[0]).toMatchObject({ version: 6, number: 3 })
})

test('objects that keep to a version of a workflow show its number', async () => {
  const child = await twicePublished()
  const calls = (version?: number) => ({
    ...{ initialStep: 'call', edges: [] },
    steps: [{ id: 'call', type: 'run-workflow', workflowId: child, ...(version ? { version } : {}) }],
  })
  const parents: string[] = []
  for (const [name, version] of [['Pinned'], ['Of the first', 3], ['Of the draft', 6]] as const) {
    const { id } = await createWorkflow(owner, { name, ...calls(version) } as never)
    await publishWorkflow(owner, { id })
    parents.push(id)
  }
  expect(
    (await readCallers(owner, { id: child })).parents.map(({ name, keepsTo, keepsNumber }) => [
      name,
      keepsTo,
      keepsNumber,
    ]),
  ).toEqual([
    ['Of the draft', 6, null],
    ['Of the first', 3, 1],
    ['Pinned', 5, 2],
  ])
  await publishWorkflow(owner, { id: child })
  const { uses } = await getChanges(owner, { id: parents[0] ?? '' })
  expect(uses).toEqual([{ kind: 'workflow', id: child, name: 'Counted', from: 2, to: 3 }])
})

test('a run shows the number of its version, and none while that is a draft', async () => {
  const ctx = await newTenant(database)
  const id = await twicePublished(ctx)
  const run = async (version?: string) =>
    (await startRun(ctx, { workflowId: id, body: {}, ...(version ? { version } : {}) })).runId
  const [first, published, draft] = [await run('3'), await run(), await run('6')]
  const seen = async () => {
    const { runs } = await browseRuns(ctx, { workflowIds: [id] })
    const listed = new Map(runs.map((item) => [item.runId, [item.workflowVersion, item.versionNumber]]))
    const opened = await Promise.all([first, published, draft].map((runId) => getRunOverview(ctx, { runId })))
    expect(
      opened.map(({ runId, workflowVersion, versionNumber }) => [runId, [workflowVersion, versionNumber]]),
    ).toEqual([first, published, draft].map((runId) => [runId, listed.get(runId)]))
    return opened.map(({ versionNumber }) => versionNumber)
  }
  expect(await seen()).toEqual([1, 2, null])
  expect(await readStepFigures(ctx, { id })).toMatchObject({ version: 6, number: null })
  await publishWorkflow(ctx, { id })
  expect(await seen()).toEqual([1, 2, 3])
  expect(await readStepFigures(ctx, { id })).toMatchObject({ version: 6, number: 3 })
})

test('the audit log on screen gives the numbers of publications, and says nothing of the versions of drafts', async () => {
  const ctx = await newTenant(database)
  const id = await twicePublished(ctx)
  await restoreWorkflowVersion(ctx, { id, version: '3' })
  await restoreWorkflowVersion(ctx, { id, version: '1' })
  const said = async () =>
    (await browseAudit(ctx, {})).entries.map(({ action, details }) => [action, details] as const).toReversed()
  const entries = (await said()).filter(([action]) => action !== 'workflow.saved')
  expect(entries).toEqual([
    ['workflow.created', {}],
    ['workflow.published', { version: 1 }],
    ['workflow.published', { version: 2, replaces: 1 }],
    ['workflow.restored', { from: 1 }],
    ['workflow.restored', {}],
  ])
  const saves = (await said()).filter(([action]) => action === 'workflow.saved')
  expect(saves.length).toBeGreaterThan(0)
  for (const [, details] of saves) expect(details).not.toHaveProperty('version')
  await archiveWorkflow(ctx, { id })
  await deleteWorkflowPermanently(ctx, { id })
  expect((await said()).filter(([action]) => action === 'workflow.published')).toEqual([
    ['workflow.published', {}],
    ['workflow.published', {}],
  ])
})
