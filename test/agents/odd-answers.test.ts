import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ServiceContext } from '@/server/context'
import type { JsonObject } from '@/server/definition/json'
import { openChat } from '@/server/talk/chat'
import { stopSandbox } from '@/server/tools/sandbox/run-script'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { type ModelServer, type Reply, startModelServer } from '../support/model'
import { chat, invokeAgent } from '../support/talk'
import { newScriptTool, newTenant } from '../support/tenant'
import { refusal } from '../workflows/support'
import { newAgent } from './support'

let database: FreshDatabase
let ctx: ServiceContext
let model: ModelServer
const never = new AbortController().signal
const A_SCHEMA = { type: 'object', required: ['a'], properties: { a: { type: 'integer' } } }

beforeAll(async () => {
  Object.assign(process.env, { ALLOW_PRIVATE_HOSTS: '127.0.0.1', AGENT_TIMEOUT_MS: '20000', LOG_LEVEL: 'fatal' })
  database = await freshDatabase()
  model = await startModelServer()
})
beforeEach(async () => {
  ctx = await newTenant(database)
})
afterAll(async () => {
  await model.close()
  await stopSandbox()
  await database.close()
})

const say = (agentId: string, body: object = {}) => chat(ctx, { agentId, message: 'x', ...body } as JsonObject, never)
const invoke = (agentId: string, body: object = {}) =>
  invokeAgent(ctx, { agentId, body: { message: 'x', ...body } as JsonObject }, never)
const speaker = (fields: object = {}) => newAgent(ctx, { outputSchema: null, ...fields }, model)
const extractor = (fields: object = {}) => newAgent(ctx, { outputSchema: A_SCHEMA, ...fields }, model)
const asModel = (fields: object) => ({ provider: 'openai-compatible', modelId: 'm', baseUrl: model.url, ...fields })

/** The events of a streamed chat. */
async function streamed(agentId: string) {
  const source = await openChat(ctx, { body: { agentId, message: 'x' }, lastEventId: null }, never)
  const events: { event: string; data: JsonObject }[] = []
  for await (const { event, data } of source?.(never) ?? []) events.push({ event, data: data as JsonObject })
  return events
}

const toolsOffered = () => (model.calls[0]?.body.tools ?? []).map((tool: { function: object }) => tool.function)
const results = (call = 1) =>
  model.calls[call]?.body.messages.filter((message: { role: string }) => message.role === 'tool') ?? []

describe('an answer that is not whole', () => {
  const cut: Reply = { message: { content: 'The notice period is' }, finish: 'length' }

  test('says so in a chat: why it ended, and the limit it reached', async () => {
    const { id } = await speaker({ model: asModel({ settings: { maxOutputTokens: 7 } }) })
    model.script(cut)
    const { message, metadata } = await say(id)
    expect([message, metadata.finishReason]).toEqual(['The notice period is', 'length'])
    expect(metadata.warnings).toEqual([expect.stringContaining('limit of 7 output tokens')])
    model.script(cut)
    expect((await streamed(id)).at(-1)).toMatchObject({
      event: 'message.done',
      data: { message: 'The notice period is', metadata: { finishReason: 'length' } },
    })
  })

  test('is not a structured answer, and is not paid for twice: the error names the limit', async () => {
    const { id } = await extractor({ model: asModel({ settings: { maxOutputTokens: 7 } }) })
    model.script({ message: { content: '{"a":' }, finish: 'length' }, { text: '{"a":1}' })
    const { code, details } = await refusal(invoke(id))
    expect([code, model.calls.length]).toEqual(['MODEL_ERROR', 1])
    expect(details[0]).toMatchObject({
      message: expect.stringContaining('limit of 7 output tokens'),
      finishReason: 'length',
      retryable: false,
    })
  })

  test('is still an answer if all that the schema requires is complete', async () => {
    const { id } = await extractor()
    model.script({ message: { content: '{"a":1} Furthermore, one could' }, finish: 'length' })
    expect((await invoke(id)).data).toEqual({ a: 1 })
  })

  test.each([true, false])('was stopped by a filter: that is the error (structured: %s)', async (structured) => {
    const { id } = await (structured ? extractor() : speaker())
    model.script({ message: { content: '' }, finish: 'content_filter' }, { text: '{"a":1}' })
    const { code, details } = await refusal(structured ? invoke(id) : say(id))
    expect([code, model.calls.length]).toEqual(['MODEL_ERROR', 1])
    expect(details[0]).toMatchObject({
      message: expect.stringContaining("stopped by the provider's filter"),
      finishReason: 'content-filter',
    })
  })

  test.each([true, false])(
    'was refused: the error has the text of the refusal (structured: %s)',
    async (structured) => {
      const { id } = await (structured ? extractor() : speaker())
      const refused: Reply = { message: { content: null, refusal: 'I cannot help with that.' } }
      model.script(refused, { text: '{"a":1}' })
      const { code, details } = await refusal(structured ? invoke(id) : say(id))
      expect([code, details[0]?.refusal, model.calls.length]).toEqual(['MODEL_ERROR', 'I cannot help with that.', 1])
      expect(details[0]?.message).toContain('I cannot help with that.')
      if (structured) return
      model.script(refused)
      expect((await streamed(id)).at(-1)).toMatchObject({
        event: 'error',
        data: { details: [{ refusal: 'I cannot help with that.' }] },
      })
    },
  )

  test('is reported to the agent that handed over', async () => {
    const other = await speaker({ name: 'Other' })
    const { id } = await speaker({ supervisor: true, handoffs: [other.id] })
    model.script({ calls: [{ name: `handoff_${other.id}`, args: { message: 'y' } }] }, cut, { text: 'Done.' })
    await say(id)
    expect(JSON.parse(results(2)[0].content)).toEqual({ message: 'The notice period is', finishReason: 'length' })
  })

  test('that is whole says nothing of it', async () => {
    const { id } = await speaker()
    model.script({ text: 'Hello.' })
    const { metadata } = await say(id)
    expect(Object.keys(metadata)).toEqual(['provider', 'modelId', 'version', 'usage', 'rounds', 'toolCalls'])
  })
})

describe('a turn that failed', () => {
  const prices = { input: 2, output: 4 }

  test('reports its usage, the tools it called, and whether to try again', async () => {
    const tool = await newScriptTool(ctx, 'return 1')
    const { id } = await extractor({ tools: [tool], model: asModel({ prices }) })
    const calls: Reply = {
      calls: [
        { name: tool, args: {} },
        { name: 'nothing', args: {}, id: 'b' },
      ],
    }
    const called = [
      { toolId: tool, success: true },
      { toolId: 'nothing', success: false },
    ]
    const once = {
      usage: { inputTokens: 10, outputTokens: 5, totalTokens: 15 },
      cost: 0.00004,
      rounds: 1,
      toolCalls: 2,
    }
    model.script(calls, { status: 400 })
    const failed = await refusal(invoke(id))
    expect(failed.details).toMatchObject([{ ...once, provider: 'openai-compatible', status: 400, retryable: false }])
    expect(failed.details[0]?.calls).toHaveLength(2)
    expect(failed.details[0]?.calls).toEqual(expect.arrayContaining(called))
    model.script(calls, { text: 'no' }, { text: 'no' })
    const mismatch = await refusal(invoke(id))
    expect(mismatch).toMatchObject({
      code: 'OUTPUT_SCHEMA_MISMATCH',
      details: [
        { path: 'data', message: 'is not JSON' },
        { provider: 'openai-compatible', usage: { totalTokens: 45 }, cost: 0.00012, toolCalls: 2 },
      ],
    })
  })

  test('names its thread if that is still there', async () => {
    const { id } = await speaker()
    model.script({ text: 'Hello.' }, { status: 400 })
    const { threadId } = await say(id)
    expect((await refusal(say(id, { threadId }))).details[0]).toMatchObject({ threadId, usage: { totalTokens: 0 } })
    model.script({ status: 400 })
    expect((await refusal(say(id))).details[0]).not.toHaveProperty('threadId')
  })
})

describe('a blank answer', () => {
  test.each(['', '\n', ' \t\u00a0'])('is no answer and leaves nothing in the thread: %j', async (content) => {
    const { id } = await speaker()
    model.script({ text: 'Hello.' })
    const { threadId } = await say(id)
    model.script({ message: { content } })
    expect(await refusal(say(id, { threadId }))).toMatchObject({ code: 'MODEL_ERROR' })
    model.script({ text: 'Again.' })
    await say(id, { threadId })
    const sent = model.calls[0]?.body.messages as { role: string; content: string }[]
    expect(sent.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'user'])
  })

  test('beside tool calls is not kept as text', async () => {
    const tool = await newScriptTool(ctx, 'return 1')
    const { id } = await speaker({ tools: [tool] })
    const call = { id: 'c', type: 'function', function: { name: tool, arguments: '{}' } }
    model.script({ message: { content: '\n\n', tool_calls: [call] } }, { text: 'One.' })
    await say(id)
    expect(model.calls[1]?.body.messages.at(-2)).toMatchObject({ role: 'assistant', tool_calls: [{ id: 'c' }] })
    expect(model.calls[1]?.body.messages.at(-2).content ?? '').toBe('')
  })
})

describe('tool calls', () => {
  const call = (id: string | undefined, name: string, args: unknown) => ({
    ...(id === undefined ? {} : { id }),
    type: 'function',
    function: { name, arguments: args },
  })

  test.each(['call_0', '', '   '])('that share the id %j all run, each with a result of its own', async (shared) => {
    const tool = await newScriptTool(ctx, 'return { got: args }')
    const { id } = await speaker({ tools: [tool] })
    const calls = ['first', 'second', 'third'].map((x) => call(shared, tool, JSON.stringify({ x })))
    model.script({ message: { content: null, tool_calls: calls } }, { text: 'Done.' })
    expect((await say(id)).metadata.toolCalls).toBe(3)
    const got = results().map(({ content }: { content: string }) => JSON.parse(content).got.x)
    expect(got).toEqual(['first', 'second', 'third'])
    const ids = results().map((result: { tool_call_id: string }) => result.tool_call_id)
    expect(new Set(ids).size).toBe(3)
    expect(model.calls[1]?.body.messages.at(-4).tool_calls.map((one: { id: string }) => one.id)).toEqual(ids)
    expect(ids.every((one: string) => one.trim() !== '')).toBe(true)
  })

  test.each([true, false])('may have their arguments as an object (streamed: %s)', async (streams) => {
    const tool = await newScriptTool(ctx, 'return { got: args }')
    const { id } = await speaker({ tools: [tool] })
    const calls = [call('c1', tool, { x: 1, y: { z: '"' } }), call('c2', tool, '{"x":2}')]
    model.script({ message: { content: null, tool_calls: calls } }, { text: 'Done.' })
    if (streams) expect((await streamed(id)).at(-1)).toMatchObject({ event: 'message.done' })
    else await say(id)
    expect(results().map(({ content }: { content: string }) => JSON.parse(content).got)).toEqual([
      { x: 1, y: { z: '"' } },
      { x: 2 },
    ])
  })

  test('reach the tool they name, however much its id shares with others', async () => {
    const stem = `tool_${'a'.repeat(60)}`
    const [read, drop] = await Promise.all(
      ['read', 'drop'].map((end) => newScriptTool(ctx, `return "${end}"`, { id: `${stem}_${end}` })),
    )
    const { id } = await speaker({ tools: [read, drop] })
    model.answer((_call, index) =>
      index === 0
        ? { calls: toolsOffered().map(({ name }: { name: string }) => ({ name, args: {} })) }
        : { text: 'Done.' },
    )
    const events = await streamed(id)
    const names = toolsOffered().map(({ name }: { name: string }) => name)
    expect([names.length, new Set(names).size]).toEqual([2, 2])
    for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/)
    expect(results().map(({ content }: { content: string }) => content)).toEqual(['"read"', '"drop"'])
    // A reader of the events knows the tools by their ids.
    expect(events.filter(({ event }) => event === 'tool.call').map(({ data }) => data.toolId)).toEqual([read, drop])
  })
})

describe('a tool’s schema that some providers refuse', () => {
  const offered = async (inputSchema: JsonObject, args: object) => {
    const tool = await newScriptTool(ctx, 'return { got: args }', { inputSchema })
    const { id } = await speaker({ tools: [tool] })
    model.script({ calls: [{ name: tool, args }] }, { text: 'Done.' })
    await say(id)
    return { parameters: toolsOffered()[0].parameters, result: results()[0].content as string }
  }

  test('is offered flat, with the fields of its parts, and still checked as a whole', async () => {
    const schema = {
      type: 'object',
      properties: { id: { type: 'string' } },
      anyOf: [
        { required: ['id'] },
        { properties: { email: { type: 'string' }, n: { type: 'integer' } }, required: ['email'] },
        { $ref: '#/$defs/other' },
      ],
      $defs: { other: { type: 'object', properties: { n: { type: 'string' } }, required: ['n'] } },
    }
    const { parameters, result } = await offered(schema, { nothing: 1 })
    expect(parameters).toEqual({
      type: 'object',
      properties: {
        id: { type: 'string' },
        email: { type: 'string' },
        n: { anyOf: [{ type: 'integer' }, { type: 'string' }] },
      },
      $defs: schema.$defs,
    })
    expect(result).toContain('INVALID_INPUT')
    expect((await offered(schema, { email: 'a@example.com' })).result).toContain('a@example.com')
  })

  test('requires everything that all its parts require', async () => {
    const part = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] }
    const { parameters } = await offered({ allOf: [part, { not: { required: ['b'] } }], not: {}, enum: [] }, {})
    expect(parameters).toEqual({ type: 'object', properties: { a: { type: 'string' } }, required: ['a'] })
  })

  test('gives fields whose names are refused other names, and the tool gets its own', async () => {
    const properties = { 'größe in cm': { type: 'integer' }, 'grösse in cm': { type: 'integer' }, 頁: {}, plain: {} }
    const schema = { type: 'object', properties, required: ['größe in cm'], additionalProperties: false }
    const args = { grosse_in_cm: 1, grosse_in_cm_2: 2, argument: 3, plain: 4 }
    const { parameters, result } = await offered(schema, args)
    expect(Object.keys(parameters.properties)).toEqual(Object.keys(args))
    for (const name of Object.keys(parameters.properties)) expect(name).toMatch(/^[a-zA-Z0-9_.-]{1,64}$/)
    expect(parameters.required).toEqual(['grosse_in_cm'])
    expect(parameters.properties.grosse_in_cm).toEqual({ title: 'größe in cm', type: 'integer' })
    expect(JSON.parse(result).got).toEqual({ 'größe in cm': 1, 'grösse in cm': 2, 頁: 3, plain: 4 })
  })

  test('whose parts refer to removed ones is offered open', async () => {
    const schema = {
      type: 'object',
      properties: { a: { $ref: '#/anyOf/0' } },
      anyOf: [{ type: 'object', properties: { b: { type: 'string' } } }],
    }
    const { parameters } = await offered(schema, {})
    expect(parameters).toEqual({ type: 'object', properties: {}, additionalProperties: true })
  })
})

describe('a structured answer', () => {
  test.each([
    ['a fence', '```json\n{"a":1}\n```'],
    ['a fence in capitals', '```JSON\n{"a":1}\n```'],
    ['a fence of tildes', '~~~json\n{"a":1}\n~~~'],
    ['a longer fence', '````jsonc\n{"a":1}\n````'],
    ['a fence after prose', 'Here it is:\n\n```json\n{"a":1}\n```'],
    ['a fence on one line', '```json {"a":1}```'],
    ['a fence that is never closed', '```json\n{"a":1}'],
    ['prose after it', '{"a":1} Done.'],
    ['prose around it', 'The answer is {"a":1}, I think.'],
    ['braces in the prose', 'As {asked}: {"a":1} {smile}'],
    ['thoughts', '<think>easy, {"a":2}?</think> {"a":1}'],
    ['thoughts whose beginning the server cut', 'easy, {"a":2}?\n</think>\n\n{"a":1}'],
    ['a byte order mark', '\ufeff{"a":1}'],
    ['an example before it', 'For {"b":2} it would fail, so: {"a":1}'],
  ])('is read through %s, without a second call', async (_what, text) => {
    const { id } = await extractor()
    model.script({ text, pieces: 1000 })
    const { data, metadata } = await invoke(id)
    expect([data, metadata.repaired, model.calls.length]).toEqual([{ a: 1 }, undefined, 1])
  })

  test('is read unchanged if it is JSON, regardless of its texts', async () => {
    const { id } = await newAgent(ctx, { outputSchema: { type: 'object', required: ['t'] } }, model)
    const t = '</think>```json\n{"t":"wrong"}\n```'
    model.script({ text: JSON.stringify({ t }), pieces: 1000 })
    expect((await invoke(id)).data).toEqual({ t })
  })

  test('that is longer than the limit is refused with that reason, and not paid for twice', async () => {
    const { id } = await newAgent(ctx, { outputSchema: { type: 'object', required: ['t'] } }, model)
    model.script({ text: JSON.stringify({ t: 'x'.repeat(1_000_000) }), pieces: 1e6 }, { text: '{"t":"short"}' })
    const { code, details } = await refusal(invoke(id))
    expect([code, model.calls.length]).toEqual(['OUTPUT_SCHEMA_MISMATCH', 1])
    expect(details[0]).toMatchObject({ path: 'data', message: 'is longer than 1,000,000 characters' })
    model.script({ text: JSON.stringify({ t: 'x'.repeat(999_000) }), pieces: 1e6 })
    expect((await invoke(id)).data).toHaveProperty('t')
  })

  const strict = {
    type: 'object',
    required: ['a'],
    properties: { a: { type: 'integer' } },
    additionalProperties: false,
  }
  test.each([
    ['strictly where its schema allows that', strict, true],
    ['not strictly where a field is optional', { ...strict, required: [] }, undefined],
    ['not strictly where more fields may come', A_SCHEMA, undefined],
    [
      'not strictly where a nested object is open',
      { ...strict, properties: { a: { type: 'array', items: { type: 'object' } } } },
      undefined,
    ],
    [
      'not strictly where a keyword is not supported',
      { ...strict, properties: { a: { type: 'integer', default: 1 } } },
      undefined,
    ],
  ])('is asked for %s', async (_what, outputSchema, expected) => {
    const { id } = await newAgent(ctx, { outputSchema }, model)
    model.script({ text: '{"a":1}' })
    await invoke(id).catch(() => {})
    const { json_schema } = model.calls[0]?.body.response_format ?? {}
    expect([json_schema.schema, json_schema.strict]).toEqual([outputSchema, expected])
  })
})
