import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ServiceContext } from '@/server/context'
import { callModel } from '@/server/models/call'
import { openModel } from '@/server/models/registry'
import { toolName } from '@/server/models/tool-names'
import { stopSandbox } from '@/server/tools/sandbox/run-script'
import { setVaultSecret } from '@/server/vault/set'
import { type Outside, type Seen, startOutside } from '../net/outside'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { pdfOf, pngOf } from '../support/sample-files'
import { chat, invokeAgent } from '../support/talk'
import { newScriptTool, newTenant } from '../support/tenant'
import { refusal } from '../workflows/support'
import { newAgent, ORDER_SCHEMA } from './support'

const ORDER = { item: 'chairs', amount: 12 }
const LONG = '1234567890123456789'
const KEY = 'planted-key-of-the-tenant'

/** A provider's answer, independent of any wire format. */
type Said = { text: string } | { call: string; args: object }

/** How to talk to a provider: the real SDK sends, a test server parses and answers in the provider's format. */
interface Wire {
  provider: 'anthropic' | 'google'
  modelId: string
  secret: string
  path: RegExp
  key: (headers: IncomingHttpHeaders) => unknown
  /** Whether the request asks for JSON that matches a schema. */
  // biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of a request
  wantsJson: (body: any) => boolean
  // biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of a request
  toolsOf: (body: any) => string[]
  answer: (said: Said) => object
  /** An error as the provider words it, including the key it was given. */
  error: (status: number, message: string) => object
}

const anthropic: Wire = {
  provider: 'anthropic',
  modelId: 'claude-sonnet-4-5',
  secret: 'ANTHROPIC_API_KEY',
  path: /^\/anthropic\/v1\/messages$/,
  key: (headers) => headers['x-api-key'],
  wantsJson: (body) => body.output_config?.format?.type === 'json_schema' || body.output_format !== undefined,
  toolsOf: (body) => (body.tools ?? []).map((tool: { name: string }) => tool.name),
  answer: (said) => ({
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude-sonnet-4-5',
    content: [
      'text' in said
        ? { type: 'text', text: said.text }
        : { type: 'tool_use', id: 'toolu_1', name: said.call, input: said.args },
    ],
    stop_reason: 'text' in said ? 'end_turn' : 'tool_use',
    stop_sequence: null,
    usage: { input_tokens: 10, output_tokens: 5 },
  }),
  error: (_status, message) => ({ type: 'error', error: { type: 'invalid_request_error', message } }),
}

const google: Wire = {
  provider: 'google',
  modelId: 'gemini-2.5-flash',
  secret: 'GOOGLE_GENERATIVE_AI_API_KEY',
  path: /^\/google\/v1beta\/models\/gemini-2\.5-flash:generateContent$/,
  key: (headers) => headers['x-goog-api-key'],
  wantsJson: (body) => body.generationConfig?.responseMimeType === 'application/json',
  toolsOf: (body) =>
    // biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of a request
    [body.tools ?? []].flat().flatMap((tool: any) => tool.functionDeclarations.map(({ name }: any) => name)),
  answer: (said) => ({
    candidates: [
      {
        content: {
          role: 'model',
          parts: ['text' in said ? { text: said.text } : { functionCall: { name: said.call, args: said.args } }],
        },
        finishReason: 'STOP',
        index: 0,
      },
    ],
    usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 },
  }),
  error: (status, message) => ({ error: { code: status, message, status: 'INVALID_ARGUMENT' } }),
}

type Reply = (response: ServerResponse) => void
const json = (response: ServerResponse, status: number, body: object, headers = {}) =>
  void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))

let database: FreshDatabase
let ctx: ServiceContext
let outside: Outside
let replies: Reply[] = []
const never = new AbortController().signal
beforeAll(async () => {
  outside = await startOutside((_seen, response) => {
    const reply = replies.shift()
    if (reply) reply(response)
    else response.writeHead(500).end('the script is over')
  })
  Object.assign(process.env, {
    ENCRYPTION_KEY: 'ab'.repeat(32),
    AGENT_TIMEOUT_MS: '20000',
    LOG_LEVEL: 'fatal',
    ANTHROPIC_BASE_URL: `${outside.url}/anthropic/v1`,
    GOOGLE_GENERATIVE_AI_BASE_URL: `${outside.url}/google/v1beta`,
  })
  database = await freshDatabase()
})
beforeEach(async () => {
  ctx = await newTenant(database)
})
afterEach(() => {
  outside.seen.length = 0
  replies = []
})
afterAll(async () => {
  await stopSandbox()
  await outside.stop()
  await database.close()
})

const bodyOf = (seen: Seen | undefined) => JSON.parse(seen?.body ?? '{}')

describe.each([anthropic, google])('$provider', (wire) => {
  const say =
    (said: Said): Reply =>
    (response) =>
      json(response, 200, wire.answer(said))
  const fail =
    (status: number, headers = {}): Reply =>
    (response) =>
      json(response, status, wire.error(status, `no, ${KEY}`), headers)
  const agent = async (fields: object = {}) => {
    await setVaultSecret(ctx, { name: wire.secret, value: KEY })
    return newAgent(ctx, { model: { provider: wire.provider, modelId: wire.modelId }, ...fields })
  }

  test('answers with data, using its own protocol and the tenant’s key', async () => {
    const { id } = await agent()
    replies = [say({ text: JSON.stringify(ORDER) })]
    const { data, metadata } = await invokeAgent(ctx, { agentId: id, body: { message: '12 chairs' } }, never)
    expect(data).toEqual(ORDER)
    expect(metadata).toMatchObject({ provider: wire.provider, modelId: wire.modelId, usage: { totalTokens: 15 } })
    const [asked] = outside.seen
    expect([asked?.method, wire.key(asked?.headers ?? {})]).toEqual(['POST', KEY])
    expect(asked?.url).toMatch(wire.path)
    expect(wire.wantsJson(bodyOf(asked))).toBe(true)
    expect(asked?.body).toContain('12 chairs')
    expect(asked?.body).toContain('Extract the order.')
  })

  test('calls tools, gets their results, and then answers with data', async () => {
    const tool = await newScriptTool(ctx, 'return { price: args.count * 10 }', { name: 'Price' })
    const { id } = await agent({ tools: [tool] })
    replies = [say({ call: tool, args: { count: 12 } }), say({ text: JSON.stringify({ ...ORDER, amount: 120 }) })]
    const { data, metadata } = await invokeAgent(ctx, { agentId: id, body: { message: 'x' } }, never)
    expect([data, metadata.toolCalls]).toEqual([{ ...ORDER, amount: 120 }, 1])
    expect(wire.toolsOf(bodyOf(outside.seen[0]))).toEqual([toolName('tool', tool, 'Price')])
    expect(outside.seen[1]?.body).toMatch(/price\W+120/)
  })

  test('keeps every digit of its answers and of a call’s arguments', async () => {
    const tool = await newScriptTool(ctx, 'return args')
    const { id } = await agent({ tools: [tool], outputSchema: { type: 'object', properties: { id: {} } } })
    // No JavaScript number equals it.
    const say = (said: Said) => (response: ServerResponse) =>
      void response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify(wire.answer(said)).replace('"LONG"', LONG))
    replies = [say({ call: tool, args: { id: 'LONG' } }), say({ text: `{"id":${LONG}}` })]
    const { data } = await invokeAgent(ctx, { agentId: id, body: { message: 'x' } }, never)
    expect(data).toEqual({ id: LONG })
    expect(outside.seen[1]?.body).toContain(`"${LONG}"`)
  })

  test('gets images and PDFs as they are', async () => {
    await agent()
    const open = await openModel(ctx, { provider: wire.provider, modelId: wire.modelId, settings: {} })
    const [png, pdf] = [pngOf(4, 4), pdfOf(['Invoice 7'])]
    const content = [
      { type: 'text' as const, text: 'Read them.' },
      { type: 'file' as const, data: new Uint8Array(png), mediaType: 'image/png', filename: 'scan.png' },
      { type: 'file' as const, data: new Uint8Array(pdf), mediaType: 'application/pdf', filename: 'bill.pdf' },
    ]
    const asked = { system: 'x', messages: [{ role: 'user' as const, content }], tools: [], mayCallTools: false }
    replies = [say({ text: 'done' })]
    const limits = { signal: never, deadline: performance.now() + 20_000 }
    expect(await callModel(open, { ...asked, outputSchema: null }, limits)).toMatchObject({ text: 'done' })
    for (const bytes of [png, pdf]) expect(outside.seen[0]?.body).toContain(bytes.toString('base64'))
  })

  test('answers in text', async () => {
    const { id } = await agent({ outputSchema: null })
    replies = [say({ text: 'Hello.' })]
    const answer = await chat(ctx, { agentId: id, message: 'hi' }, never)
    expect(answer).toMatchObject({ message: 'Hello.', metadata: { provider: wire.provider } })
  })

  test('is retried after 429 and 503, but not after 400', async () => {
    const { id } = await agent()
    replies = [
      fail(429, { 'retry-after': '0' }),
      fail(503, { 'retry-after': '0' }),
      say({ text: JSON.stringify(ORDER) }),
    ]
    expect(await invokeAgent(ctx, { agentId: id, body: { message: 'x' } }, never)).toHaveProperty('data', ORDER)
    expect(outside.seen).toHaveLength(3)
    replies = [fail(400), say({ text: JSON.stringify(ORDER) })]
    expect(await refusal(invokeAgent(ctx, { agentId: id, body: { message: 'x' } }, never))).toMatchObject({
      code: 'MODEL_ERROR',
    })
    expect(outside.seen).toHaveLength(4)
  })

  test.each([400, 401, 403, 404, 429])(
    'that refuses with %i is named in the error, without its key',
    async (status) => {
      const { id } = await agent()
      replies = [fail(status, { 'retry-after': '3600' })]
      const { code, message, details, headers } = await refusal(
        invokeAgent(ctx, { agentId: id, body: { message: 'x' } }, never),
      )
      expect([code, details[0]]).toMatchObject(['MODEL_ERROR', { provider: wire.provider }])
      expect(details[0]?.message).toContain(`${wire.provider} answered with status ${status}`)
      expect(JSON.stringify([message, details, headers])).not.toContain('planted')
      const [asked] = outside.seen
      expect(wire.key(asked?.headers ?? {})).toBe(KEY)
    },
  )
})

test('an Anthropic model without a JSON format must call a tool with the answer', async () => {
  await setVaultSecret(ctx, { name: anthropic.secret, value: KEY })
  const { id } = await newAgent(ctx, { model: { provider: 'anthropic', modelId: 'claude-3-haiku-20240307' } })
  replies = [(response) => json(response, 200, anthropic.answer({ call: 'json', args: ORDER }))]
  expect(await invokeAgent(ctx, { agentId: id, body: { message: 'x' } }, never)).toHaveProperty('data', ORDER)
  const { tools, tool_choice } = bodyOf(outside.seen[0])
  expect(tools).toMatchObject([{ name: 'json', input_schema: ORDER_SCHEMA }])
  expect(tool_choice).toMatchObject({ type: expect.stringMatching(/^(any|tool)$/) })
})
