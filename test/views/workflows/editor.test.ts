import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runs } from '@/db/schema/runs'
import { createAgent } from '@/server/agents/lifecycle'
import type { ServiceContext } from '@/server/context'
import { startRun } from '@/server/runs/start'
import { createTool, updateTool } from '@/server/tools/lifecycle'
import { getChanges } from '@/server/views/workflows/changes'
import { checkDraft } from '@/server/views/workflows/check-draft'
import { getDraft } from '@/server/views/workflows/get-draft'
import { readScope } from '@/server/views/workflows/scope-of'
import { versionHistory } from '@/server/views/workflows/version-history'
import {
  archiveWorkflow,
  createWorkflow,
  duplicateWorkflow,
  getWorkflow,
  publishWorkflow,
  unarchiveWorkflow,
  updateWorkflow,
} from '@/server/workflows/lifecycle'
import { saveLayout } from '@/server/workflows/save-layout'
import { type FreshDatabase, freshDatabase } from '../../support/db'
import { newTenant, withRole } from '../../support/tenant'
import { outcome, RUNNABLE } from '../../workflows/support'

let database: FreshDatabase
let owner: ServiceContext
let stranger: ServiceContext
beforeAll(async () => {
  database = await freshDatabase()
  owner = await newTenant(database)
  stranger = await newTenant(database)
})
afterAll(() => database.close())

describe('saveLayout', () => {
  test('moves boxes and nothing else: no version, no change, no later update', async () => {
    const { id } = await createWorkflow(owner, RUNNABLE)
    const before = await getWorkflow(owner, { id })
    await saveLayout(owner, { id, layout: { ask: { x: 1, y: 2 }, '#start': { x: 0, y: -100 } } })
    await saveLayout(owner, { id, layout: { end: { x: 3, y: 4 } } })
    expect(await getWorkflow(owner, { id })).toEqual(before)
    expect((await getDraft(owner, { id })).layout).toEqual({
      '#start': { x: 0, y: -100 },
      ask: { x: 1, y: 2 },
      end: { x: 3, y: 4 },
    })
  })

  test('forgets removed steps, and a clone keeps the layout of its original', async () => {
    const { id } = await createWorkflow(owner, RUNNABLE)
    await saveLayout(owner, { id, layout: { ask: { x: 1, y: 2 }, end: { x: 3, y: 4 } } })
    await updateWorkflow(owner, { id, body: { steps: RUNNABLE.steps.slice(1), edges: [], initialStep: 'end' } })
    expect((await saveLayout(owner, { id, layout: {} })).layout).toEqual({ end: { x: 3, y: 4 } })
    expect((await getDraft(owner, { id: (await duplicateWorkflow(owner, { id })).id })).layout).toEqual({
      end: { x: 3, y: 4 },
    })
  })

  test('keeps a deleted step where it was as long as a published version has it', async () => {
    const { id } = await createWorkflow(owner, RUNNABLE)
    await publishWorkflow(owner, { id })
    await saveLayout(owner, { id, layout: { ask: { x: 1, y: 2 }, end: { x: 3, y: 4 } } })
    await updateWorkflow(owner, { id, body: { steps: RUNNABLE.steps.slice(1), edges: [], initialStep: 'end' } })
    const both = { ask: { x: 1, y: 2 }, end: { x: 5, y: 6 } }
    expect((await saveLayout(owner, { id, layout: { end: { x: 5, y: 6 } } })).layout).toEqual(both)
    expect((await getDraft(owner, { id })).layout).toEqual(both)
  })

  test('is for editors of the workspace, and accepts numbers only', async () => {
    const { id } = await createWorkflow(owner, RUNNABLE)
    expect(await outcome(saveLayout(withRole(owner, 'operator'), { id, layout: {} }))).toBe('FORBIDDEN')
    expect(await outcome(saveLayout(stranger, { id, layout: {} }))).toBe('WORKFLOW_NOT_FOUND')
    for (const layout of [{ ask: { x: 'a', y: 1 } }, { ask: { x: 1e9, y: 1 } }, { 'a b': { x: 1, y: 1 } }, null])
      expect(await outcome(saveLayout(owner, { id, layout }))).toBe('INVALID_INPUT')
  })
})

describe('checkDraft', () => {
  test('reports for an unsaved definition the same as publishing it', async () => {
    const viewer = withRole(owner, 'viewer')
    expect((await checkDraft(viewer, { definition: RUNNABLE })).map(({ code }) => code)).toEqual([])
    const steps = [{ id: 'call', type: 'call-tool', toolId: 'nowhere' }]
    expect(await checkDraft(viewer, { definition: { name: 'n', steps } })).toContainEqual(
      expect.objectContaining({ code: 'TOOL_NOT_FOUND', stepId: 'call', field: 'toolId' }),
    )
  })

  test('says why a draft cannot even be saved, with the step', async () => {
    const steps = [
      { id: 'a', type: 'end-flow' },
      { id: 'b c', type: 'end-flow' },
    ]
    const problems = await checkDraft(owner, { definition: { name: '', steps } })
    expect(problems.map(({ code, stepId, field }) => [code, stepId, field])).toEqual([
      ['INVALID_INPUT', undefined, 'name'],
      ['INVALID_INPUT', 'b c', 'id'],
    ])
  })
})

describe('readScope', () => {
  test('returns types from the schemas of tools and agents', async () => {
    const tool = await createTool(owner, {
      name: 'Price',
      kind: 'script',
      config: { code: 'return {}' },
      outputSchema: {
        type: 'object',
        properties: { total: { type: 'number', description: 'In euros' }, lines: { type: 'array' } },
        required: ['total'],
      },
    })
    const agent = await createAgent(owner, {
      name: 'Judge',
      outputSchema: { type: 'object', properties: { verdict: { type: 'string' } }, required: ['verdict'] },
    })
    const definition = {
      ...RUNNABLE,
      payload: { customer: { type: 'object' as const }, none: { type: 'any' as const } },
      steps: [
        { id: 'price', type: 'call-tool', toolId: tool.id },
        { id: 'judge', type: 'call-agent', agentId: agent.id, message: 'x', saveAs: 'answer' },
        { id: 'end', type: 'end-flow' },
      ],
      edges: [
        { from: 'price', to: 'judge' },
        { from: 'judge', to: 'end' },
      ],
    }
    const { id } = await createWorkflow(owner, definition)
    const scope = await readScope(withRole(owner, 'viewer'), { workflowId: id, definition, stepId: 'end' })
    const types = Object.fromEntries(scope.entries.map(({ name, type, maybe }) => [name, `${type}${maybe ? '?' : ''}`]))
    expect(types).toMatchObject({
      customer: 'object',
      price: 'object',
      total: 'number',
      lines: 'array?',
      'price.total': 'number',
      answer: 'object',
      'answer.verdict': 'string',
      _: 'object',
    })
    expect(scope.entries.find(({ name }) => name === 'total')).toMatchObject({
      description: 'In euros',
      stepId: 'price',
    })
    expect(await outcome(readScope(stranger, { workflowId: id, definition, stepId: 'end' }))).toBe('WORKFLOW_NOT_FOUND')
  })
})

describe('getChanges', () => {
  test('lists the changes of publishing, who made them, and which runs stay', async () => {
    const { id } = await createWorkflow(owner, { ...RUNNABLE, payload: { amount: { type: 'string' } } })
    const unpublished = await getChanges(owner, { id })
    expect(unpublished).toMatchObject({ from: null, to: 1, before: null, running: 0 })
    // Nobody calls it yet.
    expect(unpublished.diff.payload).toMatchObject([{ kind: 'added', name: 'amount', breaking: null }])
    await publishWorkflow(owner, { id })
    await startRun(owner, { workflowId: id, body: { amount: '1' } })
    const other = { ...owner, actor: { ...owner.actor, id: 'sam' } }
    await updateWorkflow(other, { id, body: { payload: { amount: { type: 'number' } } } })
    const changes = await getChanges(withRole(owner, 'viewer'), { id })
    expect(changes).toMatchObject({ from: 1, to: 2, running: 1, authors: [{ id: 'sam', name: 'sam', versions: 1 }] })
    expect(changes.diff.payload).toEqual([
      {
        kind: 'changed',
        name: 'amount',
        fields: [{ path: 'type', before: 'string', after: 'number' }],
        breaking: 'Callers that send amount as string get 400; it must be number now.',
      },
    ])
    expect(changes.problems).toEqual([])
    expect(await getDraft(owner, { id })).toMatchObject({
      version: 2,
      unpublishedChanges: 1,
      updatedByName: 'sam',
      updatedByYou: false,
    })
    expect(await getDraft(other, { id })).toMatchObject({ updatedByName: 'sam', updatedByYou: true })
    expect(
      (await versionHistory(owner, { id, page: {} })).items.map(({ createdByName }) => createdByName),
    ).toHaveLength(2)
    expect(await outcome(getChanges(stranger, { id }))).toBe('WORKFLOW_NOT_FOUND')
    expect((await database.db.select().from(runs)).length).toBeGreaterThan(0)
  })

  test('says which version publishing makes live, whether or not that is a new one', async () => {
    const config = (value: number) => ({ code: `return ${value}` })
    const tool = await createTool(owner, { name: 'Rate', kind: 'script', config: config(1) })
    const use = { id: 'use', type: 'call-tool', toolId: tool.id }
    const { id } = await createWorkflow(owner, { name: 'Rated', initialStep: 'use', steps: [use] })
    const announced = async () => {
      const { from, to, latest, live } = await getChanges(owner, { id })
      return { from, to, latest, live }
    }
    const publishes = async () => {
      const { to } = await announced()
      expect((await publishWorkflow(owner, { id })).version).toBe(to)
    }
    expect(await announced()).toEqual({ from: null, to: 1, latest: 1, live: false })
    await publishes()
    expect(await announced()).toEqual({ from: 1, to: 1, latest: 1, live: true })
    await archiveWorkflow(owner, { id })
    await unarchiveWorkflow(owner, { id })
    expect(await announced()).toEqual({ from: 1, to: 1, latest: 1, live: false })
    await updateTool(owner, { id: tool.id, body: { config: config(2) } })
    expect(await announced()).toEqual({ from: 1, to: 2, latest: 1, live: false })
    await publishes()
    await updateTool(owner, { id: tool.id, body: { config: config(3) } })
    expect(await announced()).toEqual({ from: 2, to: 3, latest: 2, live: false })
    await publishes()
    await updateWorkflow(owner, { id, body: { description: 'Rates.' } })
    await updateTool(owner, { id: tool.id, body: { config: config(4) } })
    expect(await announced()).toEqual({ from: 3, to: 4, latest: 4, live: false })
    await publishes()
  })
})
