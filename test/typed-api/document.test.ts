import { Ajv2020 } from 'ajv/dist/2020'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ServiceContext } from '@/server/context'
import type { OpenApiDocument, Schema } from '@/server/openapi/types'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { startTestRuntime, type TestRuntime } from '../support/runtime'
import { refusal } from '../workflows/support'

let database: FreshDatabase
let runtime: TestRuntime
let base: OpenApiDocument
const ids: Record<string, string> = {}

const ask = {
  id: 'ask',
  type: 'collect-inputs',
  output: { price: { type: 'number' }, when: { type: 'string', required: false } },
}
const decide = { id: 'decide', type: 'request-user-action', actions: [{ id: 'yes', label: 'Yes' }] }
const choose = {
  ...{ id: 'choose', type: 'request-user-action', remark: 'required' },
  actions: [
    { id: 'keep', label: 'Keep' },
    { id: 'drop', label: 'Drop', fields: { why: { type: 'string' } } },
    { id: 'ask', label: 'Ask' },
  ],
}
const end = { id: 'end', type: 'end-flow', output: { price: '${price}', text: 'For ${item}' } }
const edges = [
  { from: 'ask', to: 'decide' },
  { from: 'decide', to: 'end' },
]
const payload = {
  item: { type: 'string', description: 'What to order.' },
  size: { type: 'string', options: ['s', 'm'], default: 's' },
  paper: { type: 'file' },
}
const outputSchema = {
  type: 'object',
  properties: { part: { $ref: '#/$defs/part' }, first: { oneOf: [{ type: 'string' }, { type: 'null' }] } },
  required: ['part'],
  $defs: { part: { type: 'object', properties: { price: { type: 'number' } } } },
}

beforeAll(async () => {
  database = await freshDatabase()
  runtime = await startTestRuntime(database.url)
  const { openApiDocument } = await import('@/server/rest/openapi-document')
  base = openApiDocument('http://localhost')
  ids.order = await workflow('Order', { steps: [ask, decide, end], edges, payload })
  ids.choice = await workflow('Choice', { steps: [choose] })
  ids.draft = await workflow('A draft', { steps: [end] }, false)
  ids.archived = await workflow('Archived', { steps: [{ id: 'end', type: 'end-flow' }] })
  const { archiveWorkflow } = await import('@/server/workflows/lifecycle')
  await archiveWorkflow(runtime.ctx, { id: ids.archived })
  ids.same = await workflow('Same name', { steps: [{ id: 'end', type: 'end-flow' }] })
  ids.again = await workflow('same NAME!', { steps: [{ id: 'end', type: 'end-flow' }] })
  ids.other = await workflow('注文', { steps: [{ id: 'end', type: 'end-flow' }] })
  const { createAgent, publishAgent } = await import('@/server/agents/lifecycle')
  for (const [name, schema] of [
    ['Reader', outputSchema],
    ['Talker', null],
  ] as const) {
    const { id } = await createAgent(runtime.ctx, { name, outputSchema: schema })
    await publishAgent(runtime.ctx, { id })
    ids[name] = id
  }
  const { createTool, publishTool } = await import('@/server/tools/lifecycle')
  const inputSchema = { properties: { a: { type: 'number' } }, required: ['a'], additionalProperties: false }
  const { id } = await createTool(runtime.ctx, {
    name: 'Add',
    kind: 'script',
    config: { code: 'return 1' },
    inputSchema,
  })
  await publishTool(runtime.ctx, { id })
  ids.tool = id
})
afterAll(async () => {
  await runtime.stop()
  await database.close()
})

async function workflow(name: string, definition: object, publish = true): Promise<string> {
  const { createWorkflow, publishWorkflow } = await import('@/server/workflows/lifecycle')
  const { id } = await createWorkflow(runtime.ctx, { name, ...definition })
  if (publish) await publishWorkflow(runtime.ctx, { id })
  return id
}

async function read(ctx: ServiceContext = runtime.ctx, only?: string) {
  const { typedApi } = await import('@/server/typed-api/document')
  return typedApi(ctx, base, { workflows: 'published', ...(only === undefined ? {} : { only }) })
}

type Read = Awaited<ReturnType<typeof read>>

const operationsIn = ({ paths }: Read) => Object.values(paths).flatMap((path) => Object.values(path))
const pathsIn = ({ paths }: Read) => Object.keys(paths).sort()

/** Violations of the document format. */
function flawsOf(document: Read): string[] {
  const text = JSON.stringify(document)
  const references = new Set([...text.matchAll(/"\$ref":"([^"]+)"/g)].map(([, found = '']) => found))
  const lost = [...references].filter(
    (one) =>
      one
        .slice(2)
        .split('/')
        .reduce<unknown>((at, part) => (at as Record<string, unknown>)?.[part], document) === undefined,
  )
  const unused = Object.entries(document.components).flatMap(([group, members]) =>
    group === 'securitySchemes'
      ? []
      : Object.keys(members).filter((name) => !references.has(`#/components/${group}/${name}`)),
  )
  const operationIds = operationsIn(document).map(({ operationId }) => operationId)
  const ajv = new Ajv2020({ strict: false, validateFormats: false })
  const wrong = Object.entries(document.components.schemas).filter(([, schema]) => !ajv.validateSchema(schema))
  const odd = [...operationIds, ...Object.keys(document.components.schemas)].filter(
    (name) => !/^[A-Za-z]\w*$/.test(name),
  )
  const untagged = operationsIn(document).filter(({ tags }) => !document.tags.some(({ name }) => tags.includes(name)))
  return [
    ...lost.map((one) => `leads nowhere: ${one}`),
    ...unused.map((one) => `is not used: ${one}`),
    ...operationIds.filter((id, at) => operationIds.indexOf(id) !== at).map((id) => `twice: ${id}`),
    ...wrong.map(([name]) => `is no schema: ${name}`),
    ...odd.map((name) => `is no name: ${name}`),
    ...untagged.map(({ operationId }) => `has no tag: ${operationId}`),
  ]
}

function schemaNamed(document: Read, name: string): Schema {
  const schema = document.components.schemas[name]
  if (!schema) throw new Error(`There is no ${name}, only ${Object.keys(document.components.schemas).join(', ')}`)
  return schema
}

test('it is sound, has each published object and nothing else, and is the same every time', async () => {
  const document = await read()
  expect(flawsOf(document)).toEqual([])
  const started = [ids.order, ids.choice, ids.same, ids.again, ids.other]
  expect(pathsIn(document)).toEqual(
    [
      ...started.flatMap((id) => [`/api/workflow/start/${id}`, `/api/workflow/start-async/${id}`]),
      ...['/api/workflow/status/{runId}', '/api/workflow/resume/{runId}'],
      ...[`/api/agents/${ids.Reader}/invoke`, `/api/tools/${ids.tool}/invoke`],
    ].sort(),
  )
  expect(JSON.stringify(await read())).toBe(JSON.stringify(document))
  const names = operationsIn(document).map(({ operationId }) => operationId)
  expect(names).toEqual(expect.arrayContaining(['startOrder', 'startOrderAsync', 'invokeReaderAgent', 'callAddTool']))
  // The oldest of those with one name retains it, even if only the other is requested.
  expect(names).toContain('startSameName')
  expect(names.filter((name) => /^startSameNAME[0-9a-f]{6}$/.test(name))).toHaveLength(1)
  expect(operationsIn(await read(runtime.ctx, ids.again)).map(({ operationId }) => operationId)).toContainEqual(
    expect.stringMatching(/^startSameNAME[0-9a-f]{6}$/),
  )
  // Of an object that nobody renames, regardless of other objects.
  expect(operationsIn(await read(runtime.ctx, ids.order)).map(({ operationId }) => operationId)).toContain('startOrder')
})

test('it describes an object’s input and output', async () => {
  const document = await read()
  expect(schemaNamed(document, 'OrderInput')).toMatchObject({
    required: ['item', 'paper'],
    properties: {
      item: { type: 'string', description: 'What to order.' },
      size: { enum: ['s', 'm'], description: 'By default `"s"`.' },
      paper: { type: 'string', format: 'uuid' },
    },
  })
  const start = document.paths[`/api/workflow/start/${ids.order}`]?.post
  expect(start?.requestBody?.content['multipart/form-data']?.schema.$ref).toMatch('OrderForm')
  expect(schemaNamed(document, 'OrderForm').required).toEqual(['attachment', 'item'])
  expect(schemaNamed(document, 'OrderResult')).toEqual({
    type: 'object',
    properties: { price: { type: 'number' }, text: { type: 'string' } },
    required: ['price', 'text'],
  })
  expect(schemaNamed(document, 'OrderData').required).toEqual(['item', 'size', 'paper'])
  expect(schemaNamed(document, 'OrderAskAnswer')).toMatchObject({
    properties: { stepId: { const: 'ask' }, data: { required: ['price'] } },
    required: ['type', 'stepId', 'data'],
  })
  expect(schemaNamed(document, 'OrderDecideAnswer').properties?.actionId).toEqual({ type: 'string', enum: ['yes'] })
  const choices = schemaNamed(document, 'ChoiceChooseAnswer').anyOf as Schema[]
  expect(choices.map(({ properties, required }) => [properties?.actionId?.enum, properties?.data, required])).toEqual([
    [['keep', 'ask'], undefined, ['type', 'stepId', 'actionId', 'remark']],
    [
      ['drop'],
      { type: 'object', properties: { why: { type: 'string' } }, required: ['why'] },
      ['type', 'stepId', 'actionId', 'remark', 'data'],
    ],
  ])
  expect(schemaNamed(document, 'ReaderAgentData')).toEqual({
    type: 'object',
    properties: {
      part: { $ref: '#/components/schemas/ReaderAgentDataPart' },
      first: { anyOf: [{ type: 'string' }, { type: 'null' }] },
    },
    required: ['part'],
  })
  expect(schemaNamed(document, 'AddToolArgs')).toMatchObject({ required: ['a'], additionalProperties: false })
  expect(schemaNamed(document, 'AnyRun').discriminator).toMatchObject({
    propertyName: 'workflowId',
    mapping: { [ids.order ?? '']: '#/components/schemas/OrderRun' },
  })
})

describe('who sees what', () => {
  test('a limited token sees only objects within its reach', async () => {
    const reach = { workflowIds: [ids.order ?? ''], agentIds: [], ownRuns: false }
    const document = await read({ ...(await runtime.as('operator')), reach })
    expect(flawsOf(document)).toEqual([])
    expect(pathsIn(document).filter((path) => !path.includes('{'))).toEqual([
      `/api/workflow/start-async/${ids.order}`,
      `/api/workflow/start/${ids.order}`,
    ])
    const refused = await refusal(read({ ...(await runtime.as('operator')), reach }, ids.same))
    const unknown = await refusal(read(runtime.ctx, 'wf_nobody'))
    expect([refused.code, unknown.code]).toEqual(['INVALID_INPUT', 'INVALID_INPUT'])
    expect(JSON.stringify(refused.details).replace(ids.same ?? '', 'x')).toBe(
      JSON.stringify(unknown.details).replace('wf_nobody', 'x'),
    )
  })

  test('another workspace sees nothing, and an empty document is a document', async () => {
    const document = await read(await runtime.as('viewer', 'ten_other'))
    expect([pathsIn(document), flawsOf(document)]).toEqual([[], []])
    const refused = await refusal(read(await runtime.as('owner', 'ten_other'), ids.order))
    expect(refused.code).toBe('INVALID_INPUT')
  })
})

test('a thousand workflows fit, one more is left out, and the document says so', async () => {
  const ctx = await runtime.as('owner', 'ten_many')
  await database.sql`
    insert into workflows (tenant_id, id, name, description, status, version, published_version, created_by, updated_by)
    select 'ten_many', 'wf_' || lpad(n::text, 4, '0'), 'Number ' || n, '', 'published', 1, 1, 'x', 'x'
    from generate_series(1, 1001) n`
  await database.sql`
    insert into workflow_versions (tenant_id, workflow_id, version, name, definition, language, created_by, published_at)
    select 'ten_many', w.id, 1, w.name, v.definition, v.language, 'x', now()
    from workflows w, workflow_versions v where w.tenant_id = 'ten_many' and v.workflow_id = ${ids.order ?? ''}`
  const document = await read(ctx)
  const size = JSON.stringify(document).length
  expect(size).toBeLessThan(8_500_000)
  expect(flawsOf(document)).toEqual([])
  const starts = pathsIn(document).filter((path) => path.includes('/start/'))
  expect([starts.length, document.info.description.includes('Not all workflows')]).toEqual([1_000, true])
  expect(document.components.schemas.Number1000Result).toEqual(document.components.schemas.Number1Result)
  const few = await read(ctx, 'wf_0007,wf_1001')
  expect(pathsIn(few).filter((path) => path.includes('/start/'))).toHaveLength(2)
  expect(few.info.description).not.toContain('Not all')
})

test('only a sync start of a workflow that asks people says that it may wait for them', async () => {
  const { paths } = await read()
  const said = (id: string | undefined, kind: 'start' | 'start-async') =>
    String((paths[`/api/workflow/${kind}/${id}`] as { post?: { description?: string } })?.post?.description)
  expect(said(ids.order, 'start')).toContain('Note: the workflow asks people.')
  expect(said(ids.order, 'start-async')).not.toContain('asks people')
  expect(said(ids.same, 'start')).toContain('Waits up to 50 seconds')
  expect(said(ids.same, 'start')).not.toContain('asks people')
})
