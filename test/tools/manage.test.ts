import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ServiceContext } from '@/server/context'
import type { AppError } from '@/server/errors'
import type { Role } from '@/server/roles'
import {
  archiveTool,
  createTool,
  getTool,
  getToolVersion,
  publishTool,
  unarchiveTool,
  undoArchiveTool,
  updateTool,
} from '@/server/tools/lifecycle'
import { listTools, listToolVersions } from '@/server/tools/list'
import { stopSandbox } from '@/server/tools/sandbox/run-script'
import { createWorkflow, publishWorkflow } from '@/server/workflows/lifecycle'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { newTenant, withRole } from '../support/tenant'
import { invoke, make } from './support'

let database: FreshDatabase
let ctx: ServiceContext
beforeAll(async () => {
  database = await freshDatabase()
  ctx = await newTenant(database)
})
afterAll(async () => {
  await stopSandbox()
  await database.close()
})

const script = (code: string) => ({ kind: 'script', config: { code } })
const create = (more: object = {}) => createTool(ctx, { name: 'Add', ...script('return 1'), ...more })

describe('a tool’s schemas', () => {
  const inputSchema = { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] }

  test('wrong arguments are an invalid request with a detail per place, and the tool does not run', async () => {
    const tool = await make(ctx, { ...script('throw new Error("ran")'), inputSchema })
    await expect(tool.call({ a: 'x' })).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      message: 'Invalid input',
      details: [{ path: 'args.a', message: 'must be number' }],
    })
    await expect(tool.call({})).rejects.toMatchObject({ details: [{ path: 'args.a', message: 'is required' }] })
    expect(await tool.call({ a: 1 })).toMatchObject({ success: false, error: { message: 'ran' } })
  })

  test('a wrong result is OUTPUT_INVALID and never leaves the service', async () => {
    const tool = await make(ctx, { ...script('return args.give'), outputSchema: { type: 'integer' } })
    expect(await tool.call({ give: 5 })).toEqual({ success: true, data: 5 })
    expect(await tool.call({ give: 'private' })).toEqual({
      success: false,
      error: {
        code: 'OUTPUT_INVALID',
        message: "The result does not match the tool's output schema.",
        details: ['data: must be integer'],
      },
    })
  })
})

describe('versions', () => {
  test('latest, published and a number select the right version; versions never change', async () => {
    const { id } = await create({ ...script('return "one"') })
    const call = (version?: string | number) => invoke(ctx, id, version === undefined ? {} : { version })
    await expect(call('published')).rejects.toMatchObject({ code: 'TOOL_NOT_FOUND' })
    await publishTool(ctx, { id })
    expect(await updateTool(ctx, { id, body: script('return "two"') })).toMatchObject({
      version: 2,
      publishedVersion: 1,
      status: 'published',
      hasUnpublishedChanges: true,
    })
    for (const [version, data] of [
      [undefined, 'two'],
      ['latest', 'two'],
      ['published', 'one'],
      [1, 'one'],
      ['1', 'one'],
      [2, 'two'],
    ] as const)
      expect(await call(version), String(version)).toEqual({ success: true, data })
    for (const version of [0, 3, '3', 1.5, -1, 'newest', '', ' 1', '01'])
      await expect(call(version), String(version)).rejects.toMatchObject({ code: 'TOOL_NOT_FOUND' })
    expect((await listToolVersions(ctx, { id, page: {} })).items).toMatchObject([
      { version: 2, current: true, published: false },
      { version: 1, current: false, published: true, publishedAt: expect.any(String) },
    ])
    expect(await getToolVersion(ctx, { id, version: '1' })).toMatchObject({
      version: 1,
      config: { code: 'return "one"' },
    })
    expect(await publishTool(ctx, { id })).toMatchObject({ publishedVersion: 2, hasUnpublishedChanges: false })
  })

  test('a save without changes makes none; fields it does not name stay', async () => {
    const tool = await create({ description: 'd', inputSchema: { type: 'object' } })
    expect(await updateTool(ctx, { id: tool.id, body: { ...tool, version: undefined } })).toEqual(tool)
    const renamed = await updateTool(ctx, { id: tool.id, body: { name: 'Other' } })
    expect(renamed).toMatchObject({
      name: 'Other',
      description: 'd',
      version: 2,
      config: tool.config,
      inputSchema: { type: 'object' },
    })
    expect(await updateTool(ctx, { id: tool.id, body: { inputSchema: null } })).toMatchObject({
      inputSchema: null,
      version: 3,
    })
  })

  test('of ten saves based on the same version exactly one succeeds', async () => {
    const { id } = await create()
    const saves = await Promise.allSettled(
      Array.from({ length: 10 }, (_, i) => updateTool(ctx, { id, body: { name: `N${i}` }, ifMatch: '"1"' })),
    )
    expect(saves.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    for (const save of saves)
      if (save.status === 'rejected') expect(save.reason).toMatchObject({ code: 'VERSION_CONFLICT' })
    expect(await getTool(ctx, { id })).toMatchObject({ version: 2 })
    await expect(publishTool(ctx, { id, ifMatch: '"1"' })).rejects.toMatchObject({ code: 'VERSION_CONFLICT' })
    await expect(updateTool(ctx, { id, body: { version: 1, name: 'x' } })).rejects.toMatchObject({
      code: 'VERSION_CONFLICT',
    })
    await expect(updateTool(ctx, { id, body: {}, ifMatch: '2' })).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  })

  test('another kind requires a new configuration', async () => {
    const { id } = await create()
    await expect(updateTool(ctx, { id, body: { kind: 'http' } })).rejects.toMatchObject({
      details: [{ path: 'config', message: 'is required when the kind changes' }],
    })
    const config = { url: 'https://a.example.com/' }
    expect(await updateTool(ctx, { id, body: { kind: 'http', config } })).toMatchObject({
      kind: 'http',
      config: { ...config, method: 'GET' },
    })
    expect(await getToolVersion(ctx, { id, version: '1' })).toMatchObject({ kind: 'script' })
  })
})

test('an archived tool cannot be called, saved or published, and is restored as a draft', async () => {
  const { id } = await create()
  await publishTool(ctx, { id })
  expect(await archiveTool(ctx, { id })).toMatchObject({ status: 'archived', archivedAt: expect.any(String) })
  expect(await archiveTool(ctx, { id })).toMatchObject({ status: 'archived' })
  await expect(invoke(ctx, id, {})).rejects.toMatchObject({ code: 'TOOL_NOT_FOUND' })
  await expect(updateTool(ctx, { id, body: { name: 'x' } })).rejects.toMatchObject({ code: 'TOOL_ARCHIVED' })
  await expect(publishTool(ctx, { id })).rejects.toMatchObject({ code: 'TOOL_ARCHIVED' })
  expect((await listTools(ctx, {})).items.map((item) => item.id)).not.toContain(id)
  expect((await listTools(ctx, { status: 'archived' })).items.map((item) => item.id)).toContain(id)
  expect(await unarchiveTool(ctx, { id })).toMatchObject({ status: 'draft', publishedVersion: 1, archivedAt: null })
  expect(await invoke(ctx, id, { version: 'published' })).toEqual({ success: true, data: 1 })
  await archiveTool(ctx, { id })
  expect(await undoArchiveTool(ctx, { id })).toMatchObject({ status: 'published', archivedAt: null })
})

test('the list is filtered, paged and counted', async () => {
  const tenant = await newTenant(database)
  for (const name of ['Alpha 100%', 'Beta', 'Gamma']) await createTool(tenant, { name, ...script('return 1') })
  await createTool(tenant, { name: 'Web', kind: 'http', config: { url: 'https://a.example.com/' } })
  const names = async (query: object) => (await listTools(tenant, query)).items.map(({ name }) => name)
  expect(await names({})).toEqual(['Web', 'Gamma', 'Beta', 'Alpha 100%'])
  expect(await names({ search: '0%' })).toEqual(['Alpha 100%'])
  expect(await names({ kind: 'http' })).toEqual(['Web'])
  expect(await names({ limit: '1', offset: '1' })).toEqual(['Gamma'])
  expect(await listTools(tenant, { limit: '1' })).toMatchObject({ total: 4, limit: 1, offset: 0 })
  expect(await names({ kind: 'builtin', search: 'csv' })).toEqual(['CSV'])
  expect((await listTools(tenant, { kind: 'builtin' })).total).toBe(5)
  for (const query of [{ limit: '0' }, { limit: 'x' }, { status: 'gone' }, { kind: 'shell' }, { search: '\u0000' }])
    await expect(listTools(tenant, query), JSON.stringify(query)).rejects.toMatchObject({ code: 'INVALID_INPUT' })
})

test("another tenant's tools do not exist", async () => {
  const { id } = await create()
  const other = await newTenant(database)
  const missing = { code: 'TOOL_NOT_FOUND' }
  const attempts = await Promise.allSettled([
    getTool(other, { id }),
    updateTool(other, { id, body: { name: 'x' } }),
    publishTool(other, { id }),
    archiveTool(other, { id }),
    unarchiveTool(other, { id }),
    listToolVersions(other, { id, page: {} }),
    getToolVersion(other, { id, version: '1' }),
    invoke(other, id, {}),
    getTool(ctx, { id: 'tool_none' }),
    getTool(ctx, { id: '../x' }),
  ])
  for (const attempt of attempts) expect(attempt).toMatchObject({ status: 'rejected', reason: missing })
  expect((await listTools(other, {})).items).toEqual([])
})

test('built-in tools can be read, and nothing else', async () => {
  expect(await getTool(ctx, { id: 'tool_csv' })).toMatchObject({
    kind: 'builtin',
    status: 'published',
    config: null,
    inputSchema: { type: 'object' },
  })
  const attempts = await Promise.allSettled([
    updateTool(ctx, { id: 'tool_csv', body: { name: 'x' } }),
    publishTool(ctx, { id: 'tool_csv' }),
    archiveTool(ctx, { id: 'tool_csv' }),
    unarchiveTool(ctx, { id: 'tool_csv' }),
    undoArchiveTool(ctx, { id: 'tool_csv' }),
  ])
  for (const attempt of attempts) expect(attempt).toMatchObject({ status: 'rejected', reason: { code: 'CONFLICT' } })
})

test.each<[string, object]>([
  ['no name', { name: '  ' }],
  ['no kind', { kind: undefined }],
  ['a kind that is none', { kind: 'shell', config: { command: 'ls' } }],
  ['a built-in kind', { kind: 'builtin', config: {} }],
  ['no configuration', { config: undefined }],
  ['a configuration of another kind', { kind: 'http' }],
  ['an unknown setting', { config: { code: 'return 1', hosts: ['*'] } }],
  ['a NUL', { description: 'a\u0000' }],
  ['arguments that are no object', { inputSchema: { type: 'array' } }],
  ['a schema that is none', { inputSchema: { type: 'objekt' } }],
  ['an output schema that is none', { outputSchema: { pattern: '(' } }],
])('%s is rejected', async (_, more) => {
  await expect(create(more)).rejects.toMatchObject({ code: 'INVALID_INPUT' })
})

test('read-only fields are ignored', async () => {
  const tool = await create({ id: 'tool_mine', tenantId: 'ten_x', status: 'published', version: 9, createdBy: 'me' })
  expect(tool).toMatchObject({ status: 'draft', version: 1, createdBy: 'key_owner' })
  expect(tool.id).not.toBe('tool_mine')
})

test.each<[Role, boolean, boolean]>([
  ['viewer', true, false],
  ['operator', true, false],
  ['editor', true, true],
])('%s: reads %s, writes %s', async (role, reads, writes) => {
  const { id } = await create()
  const who = withRole(ctx, role)
  const allowed = async (attempts: Promise<unknown>[]) =>
    (await Promise.allSettled(attempts)).map(
      (result) => result.status === 'fulfilled' || result.reason.code !== 'FORBIDDEN',
    )
  expect(await allowed([getTool(who, { id }), listTools(who, {}), listToolVersions(who, { id, page: {} })])).toEqual(
    Array(3).fill(reads),
  )
  expect(
    await allowed([
      createTool(who, {}),
      updateTool(who, { id, body: {} }),
      publishTool(who, { id }),
      archiveTool(who, { id }),
    ]),
  ).toEqual(Array(4).fill(writes))
})

describe('publishing a workflow', () => {
  const publish = async (args: object, more: object = {}) => {
    const properties = { a: { type: 'number' }, b: {} }
    const inputSchema = { type: 'object', properties, required: ['a'], ...more }
    const { id: toolId } = await create({ inputSchema })
    const steps = [
      { id: 'call', type: 'call-tool', toolId, args },
      { id: 'end', type: 'end-flow' },
    ]
    const definition = { name: 'W', payload: { x: { type: 'number' } }, steps, edges: [{ from: 'call', to: 'end' }] }
    return (await publishWorkflow(ctx, { id: (await createWorkflow(ctx, definition)).id })).warnings
  }

  const wrong = (warning: object) => [{ severity: 'warning', code: 'W_TOOL_ARGS', stepId: 'call', ...warning }]

  test('warns about arguments that do not match its tool’s schema, and explains why', async () => {
    expect(await publish({ a: 'x' })).toMatchObject(
      wrong({ field: 'args.a', fault: 'wrong', message: expect.stringContaining('must be number') }),
    )
    expect(await publish({})).toMatchObject(wrong({ field: 'args.a', fault: 'missing' }))
  })

  test('warns about missing and unknown arguments even next to those that are known only at run time', async () => {
    expect(await publish({ b: ['${x}'] })).toMatchObject(wrong({ field: 'args.a', fault: 'missing' }))
    const closed = { additionalProperties: false }
    expect(await publish({ A1: 1, b: '${x}' }, closed)).toMatchObject([
      ...wrong({ field: 'args.a', fault: 'missing' }),
      ...wrong({ field: 'args.A1', fault: 'unknown', suggestion: 'a' }),
    ])
  })

  test('warns about a value that can never match the schema', async () => {
    expect(await publish({ a: '${x}', b: { n: '${x}' } })).toEqual([])
    expect(await publish({ a: 'about ${x}' })).toMatchObject(
      wrong({ field: 'args.a', fault: 'wrong', message: expect.stringContaining('must be a number, but is a string') }),
    )
  })

  test('knows the results of tools and workflows in the versions it keeps to', async () => {
    const outputSchema = { type: 'object', properties: { total: { type: 'string' } }, required: ['total'] }
    const { id: toolId } = await create({ inputSchema: { type: 'object' }, outputSchema })
    const end = { id: 'end', type: 'end-flow', output: { sum: '${r.total}' } }
    const call = { id: 'call', type: 'call-tool', toolId, args: {}, saveAs: 'r' }
    const child = { name: 'C', steps: [call, end], edges: [{ from: 'call', to: 'end' }] }
    const { id: workflowId } = await createWorkflow(ctx, child)
    await publishWorkflow(ctx, { id: workflowId })
    const codesOf = async (step: object, compute: string, more: object = {}) => {
      const steps = [
        { ...step, ...more, saveAs: 'r' },
        { id: 's', type: 'set-data', compute: { x: compute } },
        { id: 'end', type: 'end-flow' },
      ]
      const edges = [
        { from: 'call', to: 's' },
        { from: 's', to: 'end' },
      ]
      const { id } = await createWorkflow(ctx, { name: 'W', steps, edges })
      const found = await publishWorkflow(ctx, { id }).catch((err: AppError) => err.details)
      return Array.isArray(found) ? found.map(({ code }) => code) : []
    }
    expect(await codesOf(call, '${r.total} * 2')).toEqual(['TYPE_MISMATCH'])
    expect(await codesOf(call, '${r.total} * 2', { version: 'latest' })).toEqual([])
    const run = { id: 'call', type: 'run-workflow', workflowId }
    expect(await codesOf(run, '${r.sum} * 2')).toEqual(['TYPE_MISMATCH'])
    expect(await codesOf(run, '${r.total}')).toEqual(['EXPRESSION_UNRESOLVED'])
    expect(await codesOf(run, '${r.sum} + "!"')).toEqual([])
  })

  test('does not warn about arguments that match, or that are known only at run time', async () => {
    expect(await publish({ a: 1 })).toEqual([])
    expect(await publish({ a: '${x}' })).toEqual([])
    expect(await publish({ a: 1, b: ['${x}'] })).toEqual([])
    const choice = { properties: { a: { anyOf: [{ type: 'object', required: ['in'] }, { type: 'number' }] } } }
    expect(await publish({ a: '${x}' }, choice)).toEqual([])
    expect(await publish({ a: { in: '${x}' }, b: '${x}' }, choice)).toEqual([])
  })
})
