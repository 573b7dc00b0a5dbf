import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { getAgentSchema } from '@/server/agents/get-schema'
import {
  archiveAgent,
  createAgent,
  getAgent,
  getAgentVersion,
  listAgents,
  listAgentVersions,
  publishAgent,
  unarchiveAgent,
  undoArchiveAgent,
  updateAgent,
} from '@/server/agents/lifecycle'
import type { ServiceContext } from '@/server/context'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { invokeAgent } from '../support/talk'
import { newScriptTool, newTenant, withRole } from '../support/tenant'
import { outcome, refusal } from '../workflows/support'
import { newAgent, ORDER_SCHEMA } from './support'

let database: FreshDatabase
let ctx: ServiceContext
const never = new AbortController().signal
beforeAll(async () => {
  database = await freshDatabase()
})
beforeEach(async () => {
  ctx = await newTenant(database)
})
afterAll(() => database.close())

const invoke = (agentId: string, body: unknown = { message: '1 x' }, as = ctx) =>
  invokeAgent(as, { agentId, body: body as never }, never)

/** Three versions that each answer with one field. The second is published. */
async function withVersions() {
  const schema = (name: string) => ({ type: 'object', properties: { [name]: { type: 'string' } }, required: [name] })
  const { id } = await newAgent(ctx, { outputSchema: schema('one') })
  await updateAgent(ctx, { id, body: { outputSchema: schema('two') } })
  await publishAgent(ctx, { id })
  await updateAgent(ctx, { id, body: { outputSchema: schema('three'), name: 'Third' } })
  return id
}

describe('invoke and schema', () => {
  test.each([
    [undefined, 'three'],
    [null, 'three'],
    ['latest', 'three'],
    ['published', 'two'],
    [1, 'one'],
    ['1', 'one'],
    ['2', 'two'],
  ])('version %j selects the right version', async (version, field) => {
    const id = await withVersions()
    expect(Object.keys((await invoke(id, { message: 'x', version })).data)).toEqual([field])
    if (version === null) return
    const query = version === undefined ? {} : { version: String(version) }
    expect(Object.keys((await getAgentSchema(ctx, { agentId: id, ...query })).outputSchema.properties ?? {})).toEqual([
      field,
    ])
  })

  test.each([0, 4, '4', '01', 1.5, -1, 'newest', '', '9'.repeat(50)])('version %j is not found', async (version) => {
    const id = await withVersions()
    expect((await refusal(invoke(id, { message: 'x', version }))).message).toBe('Agent not found')
    expect(await outcome(getAgentSchema(ctx, { agentId: id, version: String(version) }))).toBe('AGENT_NOT_FOUND')
  })

  test('`published` is not found for an agent that was never published', async () => {
    const { id } = await newAgent(ctx)
    expect(await outcome(invoke(id, { message: 'x', version: 'published' }))).toBe('AGENT_NOT_FOUND')
  })

  test.each([undefined, null, '', '  ', 1, true, {}, ['x']])(
    'without a message (%j) nothing else is looked at',
    async (message) => {
      const { code, message: text } = await refusal(invoke('agt_unknown', { message, threadId: 7, version: {} }))
      expect([code, text]).toEqual(['MESSAGE_REQUIRED', 'message is required'])
    },
  )

  test.each([[{ dataContext: 'x' }], [{ dataContext: [] }], [{ threadId: 1 }]])('%j is invalid input', async (more) => {
    const { id } = await newAgent(ctx)
    expect(await outcome(invoke(id, { message: 'x', ...more }))).toBe('INVALID_INPUT')
  })

  test('an agent without a schema, a supervisor and an unknown agent get the documented messages', async () => {
    const talker = await newAgent(ctx, { outputSchema: null })
    const boss = await newAgent(ctx, { supervisor: true })
    const mute = await newAgent(ctx, { supervisor: true, outputSchema: null })
    const stranger = await newTenant(database)
    const { id: strange } = await newAgent(stranger)
    const said = async (id: string, body: object = {}) =>
      refusal(invoke(id, { message: 'x', ...body })).then(({ status, message }) => `${status} ${message}`)
    expect(await said(talker.id)).toBe('400 Agent does not have structured output')
    expect(await said(mute.id)).toBe('400 Supervisor agents cannot be invoked')
    expect(await said(boss.id, { threadId: 'thr_x' })).toBe('400 Supervisor agents cannot be invoked')
    for (const id of ['agt_x', strange, '', '../x', 'x'.repeat(300)]) expect(await said(id)).toBe('404 Agent not found')
    const schema = (agentId: string) => outcome(getAgentSchema(ctx, { agentId }))
    expect(await schema(boss.id)).toEqual({ agentId: boss.id, name: 'Orders', outputSchema: ORDER_SCHEMA })
    expect(await schema(mute.id)).toBe('AGENT_NO_STRUCTURED_OUTPUT')
    expect(await schema(strange)).toBe('AGENT_NOT_FOUND')
  })

  test('an archived agent cannot be called', async () => {
    const { id } = await newAgent(ctx)
    await archiveAgent(ctx, { id })
    expect(await outcome(invoke(id))).toBe('AGENT_NOT_FOUND')
    await unarchiveAgent(ctx, { id })
    expect(await outcome(invoke(id))).toHaveProperty('data')
  })
})

describe('saving', () => {
  test('requires only a name; the other defaults work offline', async () => {
    const agent = await createAgent(ctx, { name: ' Helper ' })
    expect(agent).toMatchObject({
      id: expect.stringMatching(/^agt_/),
      name: 'Helper',
      description: '',
      instructions: '',
      status: 'draft',
      version: 1,
      publishedVersion: null,
      model: { provider: 'scripted', modelId: 'scripted', settings: {} },
      tools: [],
      outputSchema: null,
      supervisor: false,
      handoffs: [],
    })
    expect(await getAgent(ctx, { id: agent.id })).toEqual(agent)
  })

  test.each([
    [{}, 'name'],
    [{ name: '' }, 'name'],
    [{ name: 'x', outputSchema: { type: 'array' } }, 'outputSchema.type'],
    [
      { name: 'x', outputSchema: { type: 'object', properties: { a: { type: 'text' } } } },
      'outputSchema.properties.a.type',
    ],
    [
      { name: 'x', outputSchema: { type: 'object', properties: { a: { $ref: 'https://x.example/s.json' } } } },
      'outputSchema.properties.a.$ref',
    ],
    [
      { name: 'x', outputSchema: { type: 'object', properties: { a: { type: 'string', pattern: '(' } } } },
      'outputSchema.properties.a.pattern',
    ],
    [{ name: 'x', outputSchema: 'text' }, 'outputSchema'],
    [{ name: 'x', model: { provider: 'x', modelId: 'y' } }, 'model.provider'],
    [{ name: 'x', model: { provider: 'openai-compatible', modelId: 'y' } }, 'model.baseUrl'],
    [{ name: 'x', model: { provider: 'openai', modelId: 'y', baseUrl: 'https://x.example' } }, 'model.baseUrl'],
    [
      { name: 'x', model: { provider: 'openai-compatible', modelId: 'y', baseUrl: 'file:///etc/passwd' } },
      'model.baseUrl',
    ],
    [{ name: 'x', model: { provider: 'openai', modelId: 'y', apiKey: 'sk-literal' } }, 'model.apiKey'],
    [
      { name: 'x', model: { provider: 'openai', modelId: 'y', settings: { temperature: 9 } } },
      'model.settings.temperature',
    ],
    [{ name: 'x', handoffs: ['agt_1'] }, 'handoffs'],
    [{ name: 'x', instructions: 'a\u0000b' }, 'instructions'],
  ])('refuses %j for its %s', async (body, path) => {
    const { code, details } = await refusal(createAgent(ctx, body))
    expect([code, details[0]?.path]).toEqual(['INVALID_INPUT', path])
  })

  test('makes one version per change and none without a change; old versions stay the same', async () => {
    const tool = await newScriptTool(ctx, 'return 1')
    const { id, ...first } = await newAgent(ctx)
    const same = await updateAgent(ctx, { id, body: { ...first } })
    expect(same.version).toBe(1)
    const second = await updateAgent(ctx, { id, body: { tools: [tool, { toolId: tool, version: 1 }] } })
    expect(second).toMatchObject({
      version: 2,
      instructions: first.instructions,
      tools: [
        { toolId: tool, version: 'latest' },
        { toolId: tool, version: 1 },
      ],
    })
    expect(await getAgentVersion(ctx, { id, version: '1' })).toMatchObject({ tools: [], current: false })
    const { items, total } = await listAgentVersions(ctx, { id, page: {} })
    expect([items.map(({ version }) => version), total]).toEqual([[2, 1], 2])
  })

  test('of two saves based on the same version, one succeeds', async () => {
    const { id } = await newAgent(ctx)
    const saves = ['a', 'b'].map((name) => outcome(updateAgent(ctx, { id, body: { name }, ifMatch: '"1"' })))
    const done = await Promise.all(saves)
    expect(done.filter((one) => one === 'VERSION_CONFLICT')).toHaveLength(1)
    expect((await getAgent(ctx, { id })).version).toBe(2)
    expect(await outcome(updateAgent(ctx, { id, body: { name: 'c', version: 1 } }))).toBe('VERSION_CONFLICT')
  })
})

describe('publishing', () => {
  test('rejects tools and agents that do not exist, by name', async () => {
    const stranger = await newTenant(database)
    const foreign = await newScriptTool(stranger, 'return 1')
    const { id } = await newAgent(ctx, { tools: [foreign], supervisor: true, handoffs: ['agt_x'] })
    const { code, details } = await refusal(publishAgent(ctx, { id }))
    expect([code, details.map(({ path, code }) => `${path} ${code}`)]).toEqual([
      'VALIDATION_FAILED',
      ['tools[0] TOOL_NOT_FOUND', 'handoffs[0] AGENT_NOT_FOUND'],
    ])
    await updateAgent(ctx, { id, body: { tools: [], handoffs: [id] } })
    expect(await outcome(publishAgent(ctx, { id }))).toBe('VALIDATION_FAILED')
  })

  test('does nothing without a change, and is refused once archived', async () => {
    const { id } = await newAgent(ctx)
    const published = await publishAgent(ctx, { id, ifMatch: '"1"' })
    expect(published).toMatchObject({ status: 'published', publishedVersion: 1, hasUnpublishedChanges: false })
    expect(await publishAgent(ctx, { id })).toEqual(published)
    await archiveAgent(ctx, { id })
    expect(await outcome(publishAgent(ctx, { id }))).toBe('AGENT_ARCHIVED')
    expect(await outcome(updateAgent(ctx, { id, body: { name: 'x' } }))).toBe('AGENT_ARCHIVED')
    expect((await unarchiveAgent(ctx, { id })).status).toBe('draft')
    await archiveAgent(ctx, { id })
    expect(await undoArchiveAgent(ctx, { id })).toMatchObject({ status: 'published', archivedAt: null })
    expect((await undoArchiveAgent(ctx, { id })).status).toBe('published')
  })
})

test('the list has the tenant’s own agents, latest change first, without archived ones', async () => {
  const stranger = await newTenant(database)
  await newAgent(stranger)
  const a = await newAgent(ctx, { name: 'Alpha 100%' })
  const b = await newAgent(ctx, { name: 'Beta' })
  await archiveAgent(ctx, { id: (await newAgent(ctx, { name: 'Gone' })).id })
  await updateAgent(ctx, { id: a.id, body: { description: 'changed' } })
  const ids = async (input: object) => (await listAgents(ctx, input)).items.map(({ id }) => id)
  expect(await ids({})).toEqual([a.id, b.id])
  expect(await ids({ search: '100%' })).toEqual([a.id])
  expect((await listAgents(ctx, { includeArchived: 'true', limit: '1' })).total).toBe(3)
})

test('every verb requires its role', async () => {
  const { id } = await newAgent(ctx)
  const as = (role: 'viewer' | 'operator' | 'editor') => withRole(ctx, role)
  expect(await outcome(invoke(id, {}, as('viewer')))).toBe('FORBIDDEN')
  expect(await outcome(invoke(id, { message: 'x' }, as('operator')))).toHaveProperty('data')
  for (const verb of [
    () => createAgent(as('operator'), { name: 'x' }),
    () => updateAgent(as('operator'), { id, body: {} }),
    () => publishAgent(as('operator'), { id }),
    () => archiveAgent(as('operator'), { id }),
  ])
    expect(await outcome(verb())).toBe('FORBIDDEN')
  expect(await outcome(getAgent(as('viewer'), { id }))).toHaveProperty('id', id)
  expect(await outcome(publishAgent(as('editor'), { id }))).toHaveProperty('status', 'published')
})
