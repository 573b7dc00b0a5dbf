import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { startTestRuntime, type TestRuntime } from '../support/runtime'

let database: FreshDatabase
let runtime: TestRuntime
beforeAll(async () => {
  database = await freshDatabase()
  runtime = await startTestRuntime(database.url)
})
afterAll(async () => {
  await runtime.stop()
  await database.close()
})

const END = { id: 'end', type: 'end-flow', output: { found: '${found}' } }
const EDGES = [{ from: 'use', to: 'end' }]

/** A tool that answers with a number, and a way to save its next version. */
async function tool(answer: number) {
  const { createTool, updateTool } = await import('@/server/tools/lifecycle')
  const config = (value: number) => ({ code: `return { value: ${value} }` })
  const { id } = await createTool(runtime.ctx, { name: 'Answer', kind: 'script', config: config(answer) })
  const answers = (value: number) => updateTool(runtime.ctx, { id, body: { config: config(value) } })
  return { id, answers }
}

async function create(use: object) {
  const { createWorkflow } = await import('@/server/workflows/lifecycle')
  const steps = [{ id: 'use', saveAs: 'found', ...use }, END]
  const { id } = await createWorkflow(runtime.ctx, { name: 'User', initialStep: 'use', steps, edges: EDGES })
  return id
}

async function publish(id: string) {
  const { publishWorkflow } = await import('@/server/workflows/lifecycle')
  return publishWorkflow(runtime.ctx, { id })
}

async function resultOf(workflowId: string) {
  const { startRun } = await import('@/server/runs/start')
  const { runId } = await startRun(runtime.ctx, { workflowId, body: {} })
  const { result, error } = await runtime.wait(runId)
  return error ?? (result as { found: unknown }).found
}

async function pinsOf(id: string, version = 'published') {
  const { getWorkflowVersion } = await import('@/server/workflows/lifecycle')
  return (await getWorkflowVersion(runtime.ctx, { id, version })).pins
}

describe('the versions that a published workflow uses without naming one', () => {
  test('stays the version it was at publish, until it is published again', async () => {
    const answer = await tool(1)
    const id = await create({ type: 'call-tool', toolId: answer.id })
    expect((await publish(id)).version).toBe(1)
    await answer.answers(2)
    expect(await resultOf(id)).toEqual({ value: 1 })
    const again = await publish(id)
    expect([again.version, again.publishedVersion, again.hasUnpublishedChanges]).toEqual([2, 2, false])
    expect(await resultOf(id)).toEqual({ value: 2 })
    expect((await publish(id)).version).toBe(2)
    expect(await pinsOf(id, '1')).toEqual({ use: { kind: 'tool', id: answer.id, version: 1 } })
    expect(await pinsOf(id, '2')).toEqual({ use: { kind: 'tool', id: answer.id, version: 2 } })
  })

  test('is the latest in every run of a draft, and in a step that says so', async () => {
    const answer = await tool(1)
    const draft = await create({ type: 'call-tool', toolId: answer.id })
    const latest = await create({ type: 'call-tool', toolId: answer.id, version: 'latest' })
    await publish(latest)
    await answer.answers(2)
    expect([await resultOf(draft), await resultOf(latest)]).toEqual([{ value: 2 }, { value: 2 }])
    expect(await pinsOf(latest)).toBeUndefined()
  })

  test('is kept to also by a process that knew the version as a draft', async () => {
    const answer = await tool(1)
    const id = await create({ type: 'call-tool', toolId: answer.id })
    expect(await resultOf(id)).toEqual({ value: 1 })
    await publish(id)
    await answer.answers(2)
    expect(await resultOf(id)).toEqual({ value: 1 })
  })

  test('never changes for a version, also where that is published once more', async () => {
    const { archiveWorkflow, unarchiveWorkflow } = await import('@/server/workflows/lifecycle')
    const answer = await tool(1)
    const id = await create({ type: 'call-tool', toolId: answer.id })
    await publish(id)
    await archiveWorkflow(runtime.ctx, { id })
    await unarchiveWorkflow(runtime.ctx, { id })
    await answer.answers(2)
    expect((await publish(id)).version).toBe(2)
    expect(await pinsOf(id, '1')).toEqual({ use: { kind: 'tool', id: answer.id, version: 1 } })
  })

  test('is, of a workflow, the one that was published', async () => {
    const { updateWorkflow } = await import('@/server/workflows/lifecycle')
    const child = await create({ type: 'set-data', values: { value: 1 } })
    const change = (value: number) =>
      updateWorkflow(runtime.ctx, {
        id: child,
        body: { steps: [{ id: 'use', type: 'set-data', saveAs: 'found', values: { value } }, END] },
      })
    const parent = await create({ type: 'run-workflow', workflowId: child })
    const always = await create({ type: 'run-workflow', workflowId: child, version: 'published' })
    await publish(parent)
    expect(await pinsOf(parent)).toBeUndefined()
    await publish(child)
    expect((await publish(parent)).version).toBe(2)
    await publish(always)
    await change(2)
    await publish(child)
    expect([await resultOf(parent), await resultOf(always)]).toEqual([{ found: { value: 1 } }, { found: { value: 2 } }])
    const { archiveWorkflow } = await import('@/server/workflows/lifecycle')
    const { deleteWorkflowPermanently } = await import('@/server/workflows/delete-permanently')
    await archiveWorkflow(runtime.ctx, { id: child })
    await expect(deleteWorkflowPermanently(runtime.ctx, { id: child })).rejects.toMatchObject({ code: 'CONFLICT' })
    await archiveWorkflow(runtime.ctx, { id: parent })
    expect(await deleteWorkflowPermanently(runtime.ctx, { id: child })).toMatchObject({ deleted: true })
  })

  test('is, of an agent, the latest', async () => {
    const { createAgent } = await import('@/server/agents/lifecycle')
    const agent = await createAgent(runtime.ctx, { name: 'Helper', outputSchema: { type: 'object' } })
    const id = await create({ type: 'call-agent', agentId: agent.id, message: 'Hello' })
    await publish(id)
    expect(await pinsOf(id)).toEqual({ use: { kind: 'agent', id: agent.id, version: 1 } })
  })
})

test('a version whose tool was deleted stays published unchanged', async () => {
  const { archiveTool } = await import('@/server/tools/lifecycle')
  const answer = await tool(1)
  const id = await create({ type: 'call-tool', toolId: answer.id })
  await publish(id)
  await answer.answers(2)
  await archiveTool(runtime.ctx, { id: answer.id })
  const again = await publish(id)
  expect([again.version, again.warnings.map(({ code }) => code)]).toEqual([1, ['TOOL_NOT_FOUND']])
})

test('a published version starts as it did then, regardless of later changes to what it uses', async () => {
  const { archiveTool } = await import('@/server/tools/lifecycle')
  const { updateWorkflow } = await import('@/server/workflows/lifecycle')
  const { startRun } = await import('@/server/runs/start')
  const answer = await tool(1)
  const child = await create({ type: 'condition', when: 'false' })
  const steps = [
    { id: 'use', type: 'condition', when: 'false' },
    { id: 'rare', type: 'call-tool', toolId: answer.id },
    { id: 'end', type: 'end-flow', output: { found: 1 } },
  ]
  const edges = [
    { from: 'use', to: 'rare', on: 'true' },
    { from: 'use', to: 'end', on: 'false' },
  ]
  await updateWorkflow(runtime.ctx, { id: child, body: { steps, edges } })
  const { version } = await publish(child)
  const parent = await create({ type: 'run-workflow', workflowId: child })
  await publish(parent)
  await updateWorkflow(runtime.ctx, {
    id: child,
    body: { name: 'Changed', steps: [steps[2]], edges: [], initialStep: 'end' },
  })
  await publish(child)
  await archiveTool(runtime.ctx, { id: answer.id })
  expect(await resultOf(parent)).toEqual({ found: 1 })
  const { runId } = await startRun(runtime.ctx, { workflowId: child, body: {}, version: String(version) })
  expect(await runtime.wait(runId)).toMatchObject({ status: 'completed', result: { found: 1 } })
})
