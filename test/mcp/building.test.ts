import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { Ajv2020 } from 'ajv/dist/2020'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { JsonObject } from '@/server/definition/json'
import { SAMPLE_WORKFLOWS } from '@/server/workflows/samples'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { startTestRuntime, type TestRuntime } from '../support/runtime'
import { EXPENSES } from '../workflows/described'
import { callTool, connect, serveMcp } from './support'

// An assistant outside builds a workflow with the tools that its role has.

let database: FreshDatabase
let runtime: TestRuntime
let server: Awaited<ReturnType<typeof serveMcp>>
let editor: Client
let operator: Client

beforeAll(async () => {
  database = await freshDatabase()
  runtime = await startTestRuntime(database.url, { ENCRYPTION_KEY: 'ab'.repeat(32) })
  server = await serveMcp()
  const { createApiKey } = await import('@/server/credentials/api-keys/create')
  const as = async (role: 'editor' | 'operator') =>
    connect(server.url, { 'x-api-key': (await createApiKey(runtime.ctx, { name: role, role })).key })
  editor = await as('editor')
  operator = await as('operator')
})
afterAll(async () => {
  await server?.close()
  await runtime?.stop()
  await database?.close()
})

describe('the schema that an assistant reads', () => {
  const validator = (schema: JsonObject) =>
    new Ajv2020({ strict: false, validateFormats: false, logger: false }).compile(schema)

  test('accepts each sample, and no step of a wrong form', async () => {
    const { schema } = await callTool(editor, 'get_workflow_schema')
    const isValid = validator(schema)
    for (const { definition } of SAMPLE_WORKFLOWS) expect([isValid(definition), isValid.errors]).toEqual([true, null])
    expect(isValid(EXPENSES)).toBe(true)
    const [step, ...steps] = EXPENSES.steps
    expect(isValid({ ...EXPENSES, steps: [{ ...step, when: 7 }, ...steps] })).toBe(false)
    expect(isValid({ ...EXPENSES, steps: [{ ...step, type: 'no-such-type' }, ...steps] })).toBe(false)
    expect(isValid({ name: 'x', edges: [{ from: 'a' }] })).toBe(false)
  })

  test('is a resource too', async () => {
    const uri = 'millrace://schemas/workflow'
    expect((await editor.listResources()).resources.map((resource) => resource.uri)).toContain(uri)
    const [content] = (await editor.readResource({ uri })).contents
    const text = content && 'text' in content ? content.text : ''
    expect(JSON.parse(text)).toEqual((await callTool(editor, 'get_workflow_schema')).schema)
    await expect(operator.readResource({ uri })).rejects.toMatchObject({ code: -32002 })
  })
})

test('an editor creates, edits, checks, simulates and publishes a workflow', async () => {
  const { edges, ...rest } = EXPENSES
  const wrong = { ...rest, edges: [...edges.slice(0, 2), { from: 'approval', to: 'nowhere' }] }
  const { problems } = await callTool(editor, 'check_workflow', { definition: wrong })
  expect(problems).toMatchObject([{ severity: 'error', code: 'DANGLING_EDGE' }])
  const made = await callTool(editor, 'create_workflow', wrong)
  expect(made).toMatchObject({ id: expect.stringMatching(/^wf_/), version: 1, status: 'draft' })
  const workflowId = made.id
  expect(await callTool(editor, 'publish_workflow', { workflowId, version: 1 })).toMatchObject({
    isError: true,
    error: { code: 'VALIDATION_FAILED', details: [{ code: 'DANGLING_EDGE' }] },
  })
  expect(await callTool(editor, 'check_workflow', { workflowId })).toEqual({ problems })
  const edited = await callTool(editor, 'edit_workflow', { workflowId, version: 1, edges })
  expect(edited).toMatchObject({ id: workflowId, version: 2, steps: EXPENSES.steps, edges })
  expect(await callTool(editor, 'check_workflow', { workflowId })).toEqual({ problems: [] })
  expect(await callTool(editor, 'simulate_workflow', { workflowId, data: { amount: 5000 } })).toMatchObject({
    workflowId,
    version: 2,
    failures: [],
    unreached: [],
  })
  const published = await callTool(editor, 'publish_workflow', { workflowId, version: 2 })
  expect(published).toMatchObject({ id: workflowId, status: 'published', publishedVersion: 2 })
  expect(await callTool(operator, 'get_workflow', { workflowId })).toMatchObject({ version: 2, steps: EXPENSES.steps })
  const { workflows } = await callTool(operator, 'list_workflows', { search: 'EXPENSE' })
  expect(workflows).toMatchObject([{ id: workflowId, status: 'published', publishedVersion: 2 }])
})

describe('a change of another person', () => {
  test('is never overwritten and never published unseen', async () => {
    const { id: workflowId } = await callTool(editor, 'create_workflow', EXPENSES)
    const { updateWorkflow } = await import('@/server/workflows/lifecycle')
    await updateWorkflow(runtime.ctx, { id: workflowId, body: { name: 'By a person' } })
    for (const name of ['edit_workflow', 'publish_workflow']) {
      expect(await callTool(editor, name, { workflowId, version: 1 })).toMatchObject({
        isError: true,
        error: { code: 'VERSION_CONFLICT', details: [{ path: 'version', currentVersion: 2 }] },
      })
      // An assistant that leaves the version out has not seen any.
      expect(await callTool(editor, name, { workflowId })).toMatchObject({
        isError: true,
        error: { code: 'INVALID_INPUT', details: [{ path: 'version' }] },
      })
    }
    expect(await callTool(editor, 'get_workflow', { workflowId })).toMatchObject({
      name: 'By a person',
      status: 'draft',
    })
  })
})

test('an argument that a tool does not have is refused, and nothing is saved', async () => {
  const { id: workflowId } = await callTool(editor, 'create_workflow', EXPENSES)
  const wrong: [string, object, string][] = [
    ['create_workflow', { ...EXPENSES, step: [] }, 'step'],
    ['edit_workflow', { workflowId, version: 1, definition: EXPENSES }, 'definition'],
    ['simulate_workflow', { workflowId, payload: { amount: 1 } }, 'payload'],
    ['publish_workflow', { workflowId, version: 1, force: true }, 'force'],
    ['list_workflows', { query: 'x' }, 'query'],
  ]
  for (const [name, args, path] of wrong)
    expect(await callTool(editor, name, { ...args }), name).toMatchObject({
      isError: true,
      error: { code: 'INVALID_INPUT', details: [{ path }] },
    })
  expect(await callTool(editor, 'get_workflow', { workflowId })).toMatchObject({ version: 1, status: 'draft' })
})

test('a check takes a workflow or a definition, and not both', async () => {
  const { id: workflowId } = await callTool(editor, 'create_workflow', EXPENSES)
  for (const args of [{}, { workflowId, definition: EXPENSES }])
    expect(await callTool(editor, 'check_workflow', args)).toMatchObject({
      isError: true,
      error: { code: 'INVALID_INPUT', details: [{ path: 'workflowId' }] },
    })
})

test('a list continues from an offset', async () => {
  for (const name of ['Paged one', 'Paged two']) await callTool(editor, 'create_workflow', { name })
  const first = await callTool(editor, 'list_workflows', { search: 'Paged' })
  const rest = await callTool(editor, 'list_workflows', { search: 'Paged', offset: 1 })
  expect(first).toMatchObject({ workflows: [{ name: 'Paged two' }, { name: 'Paged one' }], total: 2 })
  expect(rest).toMatchObject({ workflows: [{ name: 'Paged one' }], total: 2 })
})

test('an operator is shown no tool that builds, and can call none', async () => {
  const { tools } = await operator.listTools()
  const names = tools.map(({ name }) => name)
  expect(names).toEqual(expect.arrayContaining(['list_workflows', 'get_workflow']))
  const building = ['create_workflow', 'edit_workflow', 'check_workflow', 'simulate_workflow', 'publish_workflow']
  for (const name of [...building, 'get_workflow_schema']) {
    expect(names).not.toContain(name)
    await expect(callTool(operator, name, {})).rejects.toMatchObject({ code: -32602 })
  }
})

test('the arguments of a tool are those of REST, and its workflow', async () => {
  const { tools } = await editor.listTools()
  const argsOf = (name: string) => tools.find((tool) => tool.name === name)?.inputSchema
  expect(argsOf('create_workflow')).toMatchObject({ required: ['name'], properties: { steps: { type: 'array' } } })
  expect(argsOf('edit_workflow')).toMatchObject({ required: ['workflowId', 'version'] })
  expect(Object.keys(argsOf('simulate_workflow')?.properties ?? {})).toEqual([
    'workflowId',
    'data',
    'answers',
    'version',
  ])
})
