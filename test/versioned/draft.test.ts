import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createAgent, publishAgentDraft, saveAgentDraft, updateAgent } from '@/server/agents/lifecycle'
import type { ServiceContext } from '@/server/context'
import {
  archiveTool,
  createTool,
  getTool,
  getToolVersion,
  publishTool,
  publishToolDraft,
  restoreToolVersion,
  saveToolDraft,
  updateTool,
} from '@/server/tools/lifecycle'
import { listToolVersions } from '@/server/tools/list'
import { stopSandbox } from '@/server/tools/sandbox/run-script'
import { openAgent } from '@/server/views/agents/open'
import { toolHistory } from '@/server/views/tools/history'
import { openTool } from '@/server/views/tools/open'
import { findUsers } from '@/server/views/users-of'
import { versionHistory } from '@/server/views/workflows/version-history'
import { createWorkflow, getWorkflowVersion, listWorkflowVersions, publishWorkflow } from '@/server/workflows/lifecycle'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { newTenant, withRole } from '../support/tenant'
import { invoke } from '../tools/support'
import { outcome, RUNNABLE } from '../workflows/support'

let database: FreshDatabase
let ctx: ServiceContext
let id: string
beforeAll(async () => {
  database = await freshDatabase()
})
beforeEach(async () => {
  ctx = await newTenant(database)
  id = (await createTool(ctx, { name: 'Answer', ...script("return 'old'") })).id
})
afterAll(async () => {
  await stopSandbox()
  await database.close()
})

const script = (code: string) => ({ kind: 'script', config: { code } })
const save = (content: object | null, revision: number, baseVersion = 1) =>
  saveToolDraft(ctx, { id, body: { content, revision, baseVersion } })
const publish = (revision: number, note = '') => publishToolDraft(ctx, { id, revision, note })

test('a draft is nobody else’s business until it is published, which makes one version of all its saves', async () => {
  const before = await getTool(ctx, { id })
  expect(await save({ ...script("return 'ne"), name: '' }, 0)).toMatchObject({ revision: 1 })
  expect(await save(script("return 'new'"), 1)).toMatchObject({ revision: 2, problems: [] })
  expect(await getTool(ctx, { id })).toEqual(before)
  expect(await invoke(ctx, id, {})).toEqual({ success: true, data: 'old' })
  expect(await openTool(ctx, { id })).toMatchObject({
    version: 1,
    draft: { content: script("return 'new'"), byYou: true },
  })

  expect(await publish(2, 'Says new')).toMatchObject({ version: 2, publishedVersion: 2 })
  expect(await invoke(ctx, id, { version: 'published' })).toEqual({ success: true, data: 'new' })
  expect(await openTool(ctx, { id })).toMatchObject({ version: 2, draft: { content: null, revision: 3 } })
  const { items } = await toolHistory(ctx, { id, page: {} })
  expect(items.map(({ version, note }) => [version, note])).toEqual([
    [2, 'Says new'],
    [1, null],
  ])
})

test('of two people who save the same revision, one gets a conflict; a revision never comes twice', async () => {
  const both = await Promise.all(['Mine', 'Theirs'].map((name) => outcome(save({ name }, 0).then(() => 'ok'))))
  expect(both.sort()).toEqual(['VERSION_CONFLICT', 'ok'])
  await save(null, 1)
  expect(await openTool(ctx, { id })).toMatchObject({ draft: { content: null, at: null } })
  expect(await outcome(save({ name: 'Mine' }, 1))).toBe('VERSION_CONFLICT')
  expect(await outcome(publish(1))).toBe('VERSION_CONFLICT')
})

test('a draft that lacks a newer version is kept, and not published over it', async () => {
  await save({ name: 'Mine' }, 0)
  await updateTool(ctx, { id, body: { description: 'By the API' } })
  expect(await save({ name: 'Mine too' }, 1)).toMatchObject({ revision: 2, baseVersion: 1 })
  expect(await outcome(publish(2))).toBe('VERSION_CONFLICT')
  expect(await getTool(ctx, { id })).toMatchObject({ version: 2, name: 'Answer' })
  await save({ name: 'Mine too', description: 'By the API' }, 2, 2)
  expect(await publish(3)).toMatchObject({ version: 3, name: 'Mine too', description: 'By the API' })
  expect(await outcome(save({ name: 'Ahead' }, 4, 9))).toBe('VERSION_CONFLICT')
})

test('a draft may break the rules of a version, says which, and is not published then', async () => {
  const { problems } = await save({ name: '', config: {} }, 0)
  expect(problems.map(({ path }) => path)).toEqual(['name'])
  expect(await outcome(publish(1))).toBe('INVALID_INPUT')
  expect(await openTool(ctx, { id })).toMatchObject({ version: 1, draft: { revision: 1 } })
})

test('without a draft, publishing publishes the latest version; a draft equal to it makes none', async () => {
  expect(await publish(0)).toMatchObject({ version: 1, publishedVersion: 1 })
  await save({ name: 'Answer' }, 0)
  expect(await publish(1)).toMatchObject({ version: 1, publishedVersion: 1 })
})

test('an earlier version is restored into the draft', async () => {
  await updateTool(ctx, { id, body: { name: 'Second' } })
  const restored = await restoreToolVersion(ctx, { id, version: '1', revision: 0 })
  expect(restored).toMatchObject({ revision: 1, baseVersion: 2, content: { name: 'Answer' } })
  expect(await getTool(ctx, { id })).toMatchObject({ version: 2, name: 'Second' })
  expect(await outcome(restoreToolVersion(ctx, { id, version: '7', revision: 1 }))).toBe('TOOL_NOT_FOUND')
  expect(await outcome(restoreToolVersion(ctx, { id, version: '1', revision: 0 }))).toBe('VERSION_CONFLICT')
  expect(await outcome(restoreToolVersion(ctx, { id: 'tool_text', version: '1', revision: 0 }))).toBe('CONFLICT')
})

test('only editors of the workspace change a draft, and nobody that of an archived tool', async () => {
  const body = { content: {}, revision: 0, baseVersion: 1 }
  expect(await outcome(saveToolDraft(withRole(ctx, 'operator'), { id, body }))).toBe('FORBIDDEN')
  expect(await outcome(publishToolDraft(withRole(ctx, 'operator'), { id, revision: 0 }))).toBe('FORBIDDEN')
  expect(await outcome(saveToolDraft(await newTenant(database), { id, body }))).toBe('TOOL_NOT_FOUND')
  await archiveTool(ctx, { id })
  expect(await outcome(save({ name: 'Late' }, 0))).toBe('TOOL_ARCHIVED')
})

test('an agent’s draft works the same, and its own checks still refuse to publish it', async () => {
  const agent = await createAgent(ctx, { name: 'Orders', instructions: 'Extract.' })
  const body = { content: { instructions: 'Look.', tools: ['tool_gone'] }, revision: 0, baseVersion: 1 }
  await saveAgentDraft(ctx, { id: agent.id, body })
  expect(await openAgent(ctx, agent)).toMatchObject({ instructions: 'Extract.', draft: { content: body.content } })
  expect(await outcome(publishAgentDraft(ctx, { id: agent.id, revision: 1 }))).toBe('VALIDATION_FAILED')
  await saveAgentDraft(ctx, { id: agent.id, body: { ...body, content: { instructions: 'Look.' }, revision: 1 } })
  expect(await publishAgentDraft(ctx, { id: agent.id, revision: 2 })).toMatchObject({
    version: 2,
    instructions: 'Look.',
  })
})

test('a note is for people who read the history, of workflows too; REST’s answers are as they were', async () => {
  const { id: workflowId } = await createWorkflow(ctx, RUNNABLE)
  await publishWorkflow(ctx, { id: workflowId, note: ' Asks for the item ' })
  const { items } = await versionHistory(ctx, { id: workflowId, page: {} })
  expect(items.map(({ note }) => note)).toEqual(['Asks for the item'])
  expect(await outcome(publishWorkflow(ctx, { id: workflowId, note: 'x'.repeat(501) }))).toBe('INVALID_INPUT')
  await publish(0, 'Says old')
  for (const answer of [
    await listToolVersions(ctx, { id, page: {} }),
    await getToolVersion(ctx, { id, version: '1' }),
    await listWorkflowVersions(ctx, { id: workflowId, page: {} }),
    await getWorkflowVersion(ctx, { id: workflowId, version: '1' }),
  ])
    expect(JSON.stringify(answer)).not.toMatch(/"note"|Says old|Asks for the item/)
})

test('the users of a tool are published workflows and agents, with the version that they keep to', async () => {
  await publishTool(ctx, { id })
  const flow = async (name: string, step: object) => {
    const steps = [{ id: 'call', type: 'call-tool', toolId: id, args: {}, ...step }]
    const workflow = await createWorkflow(ctx, { name, steps, edges: [] })
    return workflow.id
  }
  await flow('A draft', {})
  const pinned = await flow('Pins', {})
  const follows = await flow('Follows', { version: 'published' })
  for (const workflow of [pinned, follows]) await publishWorkflow(ctx, { id: workflow })
  const agent = await createAgent(ctx, { name: 'Agent', instructions: '', tools: [id] })
  const other = await createAgent(ctx, { name: 'Keeps', instructions: '', tools: [{ toolId: id, version: 1 }] })
  await updateAgent(ctx, { id: (await createAgent(ctx, { name: 'Was', tools: [id] })).id, body: { tools: [] } })
  expect(await findUsers(ctx, { id, of: 'tool' })).toEqual([
    { kind: 'agent', id: agent.id, name: 'Agent', keepsTo: null, pinned: false },
    { kind: 'workflow', id: follows, name: 'Follows', keepsTo: null, pinned: false },
    { kind: 'agent', id: other.id, name: 'Keeps', keepsTo: 1, pinned: false },
    { kind: 'workflow', id: pinned, name: 'Pins', keepsTo: 1, pinned: true },
  ])
})
