import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { JsonObject } from '@/server/definition/json'
import type { DescribeWorkflow } from '@/server/workflows/describe/schema'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { type ModelServer, startModelServer } from '../support/model'
import { startTestRuntime, type TestRuntime } from '../support/runtime'
import { DESCRIBED, DIVIDES, EXPENSES } from './described'

const SECRET = 'sk-of-the-workspace-1234567890'
/** A prompt shows its first character in another form. */
const ODD_SECRET = '<odd-one-of-the-workspace>'

let database: FreshDatabase
let runtime: TestRuntime
let model: ModelServer
let service: Server
let apiKey: string
let base: string

beforeAll(async () => {
  database = await freshDatabase()
  model = await startModelServer()
  runtime = await startTestRuntime(database.url, {
    ENCRYPTION_KEY: 'ab'.repeat(32),
    OPENAI_BASE_URL: model.url,
    ALLOW_PRIVATE_HOSTS: '127.0.0.1',
    AGENT_TIMEOUT_MS: '6000',
    RATE_LIMIT_INVOKES: '50',
  })
  const { setVaultSecret } = await import('@/server/vault/set')
  await setVaultSecret(runtime.ctx, { name: 'OPENAI_API_KEY', value: SECRET })
  await setVaultSecret(runtime.ctx, { name: 'ODD', value: ODD_SECRET })
  const { createApiKey } = await import('@/server/credentials/api-keys/create')
  const { createApiListener } = await import('@/server/rest/listener/create')
  const api = createApiListener({
    '/api/workflows': await import('@/app/api/workflows/route'),
    '/api/workflows/[id]/publish': await import('@/app/api/workflows/[id]/publish/route'),
  })
  service = createServer((request, response) => void api(request, response))
  await once(service.listen(0, '127.0.0.1'), 'listening')
  apiKey = (await createApiKey(runtime.ctx, { name: 'test', role: 'owner' })).key
  base = `http://127.0.0.1:${(service.address() as AddressInfo).port}/api/workflows`
})
afterAll(async () => {
  service?.closeAllConnections()
  service?.close()
  await model?.close()
  await runtime?.stop()
  await database?.close()
})

async function described(input: DescribeWorkflow, signal = new AbortController().signal, ctx = runtime.ctx) {
  const { describeWorkflow } = await import('@/server/workflows/describe/describe')
  return describeWorkflow(ctx, input, signal)
}

async function post(path: string, body: object) {
  const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' }
  const response = await fetch(`${base}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

/** Creates a workflow and publishes it as every program would. */
async function published(definition: object) {
  const made = await post('', definition)
  expect(made.status, JSON.stringify(made.body)).toBe(201)
  return post(`/${made.body.id}/publish`, {})
}

const lastMessage = (index: number): string => JSON.stringify(model.calls[index]?.body.messages.at(-1).content)

describe('a draft that is offered always publishes; what is not offered says why:', () => {
  test.each(DESCRIBED)('$what', async ({ text, replies, mended = [], refused, error }) => {
    model.script(...replies)
    const asked = described({ text })
    if (error) {
      await expect(asked).rejects.toMatchObject({
        code: 'MODEL_ERROR',
        details: [{ message: expect.stringMatching(error) }],
      })
      return
    }
    const found = await asked
    expect(found.metadata).toMatchObject({ provider: 'openai', attempts: replies.length })
    expect(found.metadata.usage.totalTokens).toBe(replies.length * 15)
    expect(model.calls).toHaveLength(replies.length)
    for (const [index, pattern] of mended.entries()) expect(lastMessage(index + 1)).toMatch(pattern)
    if (refused) {
      expect(found).not.toHaveProperty('definition')
      if (found.offered) throw new Error('it is offered')
      const words = found.problems.map(({ message }) => message).join('\n')
      for (const pattern of refused) expect(words).toMatch(pattern)
      return
    }
    if (!found.offered) throw new Error(JSON.stringify(found.problems))
    const answer = await published(found.definition)
    expect(answer.status, JSON.stringify(answer.body)).toBe(200)
    expect(answer.body.status).toBe('published')
  })
})

describe('a change', () => {
  const change = async (reply: object, draft: object = EXPENSES) => {
    model.script({ text: JSON.stringify(reply) })
    return described({ text: 'Add an approval by Finance over 5,000.', definition: draft as JsonObject })
  }
  const board = { id: 'board', type: 'request-user-action', title: 'Over 5,000', actions: [{ id: 'ok', label: 'OK' }] }
  const withBoard = {
    ...{ ...EXPENSES, steps: [board, ...EXPENSES.steps] },
    edges: [...EXPENSES.edges.slice(0, 2), { from: 'approval', to: 'board' }, { from: 'board', to: 'done' }],
  }

  test('sends the draft, and keeps its name and the settings that the answer leaves out', async () => {
    const found = await change({
      ...{ name: 'Renamed by the model', initialStep: 'amount_check' },
      steps: [...EXPENSES.steps, board],
      edges: [...EXPENSES.edges.slice(0, 2), { from: 'approval', to: 'board' }, { from: 'board', to: 'done' }],
    })
    if (!found.offered) throw new Error(JSON.stringify(found.problems))
    expect(found.definition).toMatchObject({ name: 'Expense approval', payload: EXPENSES.payload })
    expect(found.definition.steps.map(({ id }) => id)).toContain('board')
    expect(lastMessage(0)).toContain('amount_check')
    expect((await published(found.definition)).status).toBe(200)
  })

  test('that leaves a step without a path to it returns to the model, and is offered if it insists', async () => {
    const reply = { text: JSON.stringify({ ...EXPENSES, steps: [...EXPENSES.steps, board] }) }
    model.script(reply, reply, reply)
    const found = await described({ text: 'Add the board.', definition: EXPENSES as unknown as JsonObject })
    expect(lastMessage(1)).toContain('No path leads to board')
    expect(found).toMatchObject({ offered: true, metadata: { attempts: 3 } })
    expect(found.offered && found.warnings.map(({ code }) => code)).toContain('W_UNREACHABLE')
  })

  test('keeps the first step if the answer leaves it out, and null removes a setting', async () => {
    const { initialStep: _none, ...rest } = withBoard
    const found = await change({ ...rest, businessKey: null }, { ...EXPENSES, businessKey: '${purpose}' })
    if (!found.offered) throw new Error(JSON.stringify(found.problems))
    expect(found.definition.initialStep).toBe('amount_check')
    expect(found.definition).not.toHaveProperty('businessKey')
  })

  test('does not count what fails in a simulation of the draft already', async () => {
    const found = await change({ ...DIVIDES, description: 'Of a journey.' }, DIVIDES)
    expect(found).toMatchObject({ offered: true, metadata: { attempts: 1 } })
    expect(found.offered && found.warnings).toMatchObject([{ severity: 'warning', code: 'W_SIMULATION' }])
    expect(found.offered && (await published(found.definition)).status).toBe(200)
  })

  test('of a draft that cannot be published says so once, and does not ask again for an error that stays', async () => {
    const call = { id: 'call', type: 'call-tool', toolId: 'tool_gone', args: {} }
    const edges = [...EXPENSES.edges.slice(0, 2), { from: 'approval', to: 'call' }, { from: 'call', to: 'done' }]
    const broken = { ...EXPENSES, steps: [...EXPENSES.steps, call], edges }
    const found = await change(broken, broken)
    expect(lastMessage(0)).toContain('Tool not found: tool_gone')
    expect(found).toMatchObject({ offered: false, problems: [{ code: 'TOOL_NOT_FOUND' }], metadata: { attempts: 1 } })
  })

  test.each([SECRET, ODD_SECRET])('is refused if the draft contains a value of the vault: %s', async (secret) => {
    model.script()
    const definition = { ...EXPENSES, description: `The key is ${secret}.` } as unknown as JsonObject
    await expect(described({ text: 'Shorten it.', definition })).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      details: [{ path: 'definition', message: expect.stringContaining('value of the vault') }],
    })
    expect(model.calls).toEqual([])
  })
})

describe('an answer that can be offered, with a warning', () => {
  const step = (id: string) => ({ id, type: 'request-user-action', title: id, actions: [{ id: 'ok', label: 'OK' }] })
  const lonely = (...ids: string[]) => ({ ...EXPENSES, steps: [...EXPENSES.steps, ...ids.map(step)] })
  const reply = (definition: object, more: object = {}) => ({ text: JSON.stringify(definition), ...more })
  const offered = async () => {
    const found = await described({ text: 'Approve expenses.' })
    if (!found.offered) throw new Error(JSON.stringify(found.problems))
    return { attempts: found.metadata.attempts, steps: found.definition.steps.map(({ id }) => id) }
  }
  const first = ['amount_check', 'approval', 'done', 'board']

  test.each([{ status: 401 }, { hang: true as const }])('is offered if the next call fails: %o', async (failure) => {
    model.script(reply(lonely('board')), failure)
    expect(await offered()).toEqual({ attempts: 2, steps: first })
  })

  test('is kept if a later one has more of them', async () => {
    model.script(reply(lonely('board')), reply(lonely('board', 'other')), { text: 'No.' })
    expect(await offered()).toEqual({ attempts: 3, steps: first })
  })

  test('ends the attempts if the next prompt would go beyond the tokens', async () => {
    model.script(reply(lonely('board'), { promptTokens: 80_000 }), reply(EXPENSES))
    expect(await offered()).toEqual({ attempts: 1, steps: first })
  })

  test('is not asked for again because of people, and their addresses are not sent', async () => {
    const assignees = ['user:adda@example.com', 'group:No such group']
    const [check, approval, ...rest] = lonely('board').steps
    const steps = [check, { ...approval, assignees }, ...rest]
    model.script(reply({ ...EXPENSES, steps }), reply({ ...EXPENSES, steps: steps.slice(0, -1) }))
    expect(await offered()).toMatchObject({ attempts: 2 })
    expect(lastMessage(1)).toContain('No path leads to board')
    expect(lastMessage(1)).not.toMatch(/adda@|No such group/)
  })
})

test('problems return to the model as data, without values of the vault', async () => {
  const [first, ...edges] = EXPENSES.edges
  const wrong = { ...EXPENSES, edges: [{ ...first, to: SECRET }, ...edges] }
  model.script({ text: JSON.stringify(wrong) }, { text: JSON.stringify(EXPENSES) })
  expect(await described({ text: 'Approve expenses.' })).toMatchObject({ offered: true, metadata: { attempts: 2 } })
  expect(lastMessage(1)).toMatch(/<problems>.*\*\*\*.*<\/problems>/)
  expect(lastMessage(1)).not.toContain(SECRET)
})

test('a prompt has the types of steps, the tools and groups of the workspace, and no secret', async () => {
  const { createTool } = await import('@/server/tools/lifecycle')
  const { createGroup } = await import('@/server/members/groups/create')
  const script = { kind: 'script' as const, config: { code: 'return 1' }, inputSchema: {} }
  await createTool(runtime.ctx, { name: 'Find an order', ...script })
  await createTool(await runtime.as('owner', 'ten_zebras'), { name: 'Feed the zebras', ...script })
  await createGroup(runtime.ctx, { name: 'Zookeepers' })
  model.script({ text: JSON.stringify(EXPENSES) })
  await described({ text: `Approve expenses. Our key is ${SECRET}.` })
  const [sent] = model.calls
  const prompt = JSON.stringify(sent?.body)
  const { steps } = await import('@/server/steps/registry')
  for (const type of Object.keys(steps)) expect(prompt).toContain(type)
  expect(prompt).toContain('Find an order')
  expect(prompt).toContain('Zookeepers')
  expect(prompt).not.toContain('Feed the zebras')
  expect(prompt).not.toContain(SECRET)
  expect(sent?.authorization).toBe(`Bearer ${SECRET}`)
  // About 12,000 tokens.
  expect(prompt.length).toBeLessThan(60_000)
})

test('a prompt of a large workspace names all its tools, and has schemas while there is room', async () => {
  const large = await runtime.as('owner', 'ten_large')
  const { createTool } = await import('@/server/tools/lifecycle')
  const fields = Array.from({ length: 20 }, (_, at) => [`field_${at}`, { type: 'string', title: 'x'.repeat(50) }])
  const inputSchema = { type: 'object', properties: Object.fromEntries(fields) }
  const names = Array.from({ length: 40 }, (_, at) => `Large tool ${at}`)
  for (const name of names) await createTool(large, { name, kind: 'script', config: { code: 'return 1' }, inputSchema })
  const { MAX_WORKSPACE, readWorkspace } = await import('@/server/workflows/describe/workspace')
  const { tenantMasker } = await import('@/server/vault/masker')
  const known = await readWorkspace(large, await tenantMasker(large))
  const tools = (known.tools as JsonObject[]).filter(({ name }) => names.includes(String(name)))
  expect(tools.map(({ name }) => name).toSorted()).toEqual(names.toSorted())
  const withSchema = tools.filter(({ args }) => args !== undefined)
  expect(withSchema.length).toBeGreaterThan(5)
  expect(withSchema.length).toBeLessThan(40)
  // The brackets and names of the four lists are beyond it.
  expect(JSON.stringify(known).length).toBeLessThan(MAX_WORKSPACE + 100)
})

test('the model of an agent can be asked, with no settings of that agent; the scripted one cannot', async () => {
  const { createAgent } = await import('@/server/agents/lifecycle')
  const own = { provider: 'openai-compatible', modelId: 'house', baseUrl: model.url, settings: { maxOutputTokens: 5 } }
  const { id } = await createAgent(runtime.ctx, { name: 'House', model: own })
  const { id: scripted } = await createAgent(runtime.ctx, { name: 'Scripted' })
  const { listDraftModels } = await import('@/server/workflows/describe/models')
  expect(await listDraftModels(runtime.ctx)).toMatchObject([
    { provider: 'openai' },
    { agentId: id, modelId: 'house', label: 'house, as House' },
  ])
  model.script({ text: JSON.stringify(EXPENSES) })
  expect(await described({ text: 'Approve expenses.', agentId: id })).toMatchObject({ metadata: { modelId: 'house' } })
  expect(model.calls[0]?.body.max_tokens).toBeUndefined()
  await expect(described({ text: 'Approve expenses.', agentId: scripted })).rejects.toMatchObject({
    code: 'INVALID_INPUT',
    details: [{ path: 'model' }],
  })
})

test('a workspace without a key can ask no model', async () => {
  const other = await runtime.as('owner', 'ten_without')
  const { listDraftModels } = await import('@/server/workflows/describe/models')
  expect(await listDraftModels(other)).toEqual([])
  await expect(described({ text: 'Ask Ada.' }, undefined, other)).rejects.toMatchObject({
    code: 'INVALID_INPUT',
    details: [{ path: 'model', message: expect.stringContaining('vault') }],
  })
})

test('a caller who leaves ends the call of the model', async () => {
  model.script({ hang: true })
  const left = new AbortController()
  const asked = described({ text: 'Ask Ada.' }, left.signal)
  await expect.poll(() => model.calls.length).toBe(1)
  left.abort(new Error('left'))
  await expect(asked).rejects.toThrow('left')
  await expect.poll(() => model.calls[0]?.aborted).toBe(true)
})

test('it counts as an invoke, and beyond the limit no model is called', async () => {
  const editor = await runtime.as('editor')
  const { countCall } = await import('@/server/auth/limits')
  for (let call = 0; call < 49; call++) await countCall(editor, 'invokes', runtime.db, editor.now())
  model.script({ text: JSON.stringify(EXPENSES) })
  const ask = () => described({ text: 'Approve expenses.' }, undefined, editor)
  expect(await ask()).toMatchObject({ offered: true })
  await expect(ask()).rejects.toMatchObject({ code: 'RATE_LIMITED' })
  expect(model.calls).toHaveLength(1)
  const operator = await runtime.as('operator')
  await expect(described({ text: 'Ask Ada.' }, undefined, operator)).rejects.toMatchObject({ code: 'FORBIDDEN' })
})
