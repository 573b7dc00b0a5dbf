import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { checkOutput } from '@/server/agents/output-schema'
import type { ServiceContext } from '@/server/context'
import type { JsonObject, JsonValue } from '@/server/definition/json'
import { fillSchema, TooMuchToMake } from '@/server/models/fill-schema'
import { stopSandbox } from '@/server/tools/sandbox/run-script'
import { setVaultSecret } from '@/server/vault/set'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { LONGEST_HOLD_MS, surelyHeld } from '../support/held'
import { quickest } from '../support/patience'
import { invokeAgent } from '../support/talk'
import { newScriptTool, newTenant } from '../support/tenant'
import { refusal } from '../workflows/support'
import { newAgent } from './support'

const fill = (properties: JsonObject, message: string, results: JsonValue[] = []) =>
  fillSchema({ type: 'object', properties }, { message, results })

describe('fillSchema', () => {
  test('limits its values and texts, and holds the event loop for less than 250 ms', async () => {
    const list = (items: JsonObject): JsonObject => ({ type: 'array', minItems: 1000, items })
    const text: JsonObject = { type: 'string' }
    const many: JsonObject = {
      type: 'object',
      properties: { a: { type: 'string', format: 'email' }, b: { enum: ['x'] } },
    }
    const merged: JsonObject = {
      allOf: Array.from({ length: 4_000 }, (_, nth) => ({ properties: { [`p${nth}`]: text } })),
    }
    const long = 'word '.repeat(20_000)
    for (const [schema, message] of [
      [list(list(list(text))), 'x'],
      [list(text), long],
      [list(list(many)), long],
      [list({ type: 'string', minLength: 10_000 }), 'x'],
      [merged, 'x'],
    ] as const) {
      const fill = async () => expect(() => fillSchema(schema, { message, results: [] })).toThrow(TooMuchToMake)
      expect(await surelyHeld(fill)).toBeLessThan(LONGEST_HOLD_MS)
    }
    expect(fillSchema(list(many), { message: 'x', results: [] })).toHaveLength(1000)
  })

  test.each<[string, JsonObject, string, JsonValue]>([
    ['a string is the message', { type: 'string' }, 'Two chairs', 'Two chairs'],
    ['cut to its length, in code points', { type: 'string', maxLength: 3 }, 'a😀bc', 'a😀b'],
    ['filled up to its length', { type: 'string', minLength: 4 }, 'ab', 'ab..'],
    ['what the message names', { type: 'string' }, 'the x: blue, y: red', 'blue'],
    ['also with =', { type: 'number' }, 'y=1; x = 2.5', 2.5],
    ['but not inside another word', { type: 'string' }, 'max: 3', 'max: 3'],
    ['a number is the first of the message', { type: 'number' }, 'from 3.5 to 7', 3.5],
    ['whole, where it must be', { type: 'integer' }, '3.7', 3],
    ['within its limits', { type: 'number', minimum: 5, maximum: 6 }, '9', 6],
    ['beyond what is excluded', { type: 'number', exclusiveMinimum: 9 }, '9', 10],
    ['a multiple of its unit', { type: 'integer', multipleOf: 5, maximum: 12 }, '11', 10],
    ['0 when there is none', { type: 'number' }, 'none', 0],
    ['a boolean is whether its name is said', { type: 'boolean' }, 'x marks the spot', true],
    ['false otherwise', { type: 'boolean' }, 'nothing', false],
    ['an enum is the one that is said', { enum: ['red', 'blue'] }, 'I like Blue', 'blue'],
    ['else the first', { enum: ['red', 'blue'] }, 'green', 'red'],
    ['a constant is itself', { const: 7 }, 'x', 7],
    ['an email is the first', { type: 'string', format: 'email' }, 'write to ada@example.com!', 'ada@example.com'],
    ['a date is the first', { type: 'string', format: 'date' }, 'on 2026-03-01', '2026-03-01'],
    ['a number stands some words after its name', { type: 'number' }, 'No. 7, x to pay: EUR 12.50', 12.5],
    ['a boolean is not what is denied', { type: 'boolean' }, 'this is not x', false],
    ['an enum is said in another form, too', { enum: ['other', 'billing'] }, 'I was billed twice', 'billing'],
    [
      'of several sentences the first, where the length is limited',
      { type: 'string', maxLength: 60 },
      'Hello,\nI was billed twice in May. Please refund one of them.',
      'I was billed twice in May.',
    ],
    ['an array has one item', { type: 'array', items: { type: 'string' } }, 'a', ['a']],
    ['or as many as it must', { type: 'array', minItems: 2, items: { const: 1 } }, 'a', [1, 1]],
    ['or all numbers', { type: 'array', items: { type: 'number' } }, '1 and 2', [1, 2]],
    ['null may stand beside a type', { type: ['null', 'number'] }, '4', 4],
    ['of a choice the first', { anyOf: [{ type: 'boolean' }, { type: 'string' }] }, 'yes', true],
    ['all of them together', { allOf: [{ type: 'string' }, { maxLength: 1 }] }, 'abc', 'a'],
  ])('%s', (_name, schema, message, value) => {
    expect(fill({ x: schema }, message)).toEqual({ x: value })
  })

  test('makes up no address and no date that nobody asks for', () => {
    const properties = { mail: { type: 'string', format: 'email' }, on: { type: 'string', format: 'date' } }
    expect(fill(properties, 'on 2026-03-01')).toEqual({ on: '2026-03-01' })
    const required = { type: 'object', properties, required: ['mail', 'on'] }
    expect(checkOutput(required, fillSchema(required, { message: 'x', results: [] }))).toEqual([])
  })

  test('prefers tool results over the message', () => {
    const properties = { price: { type: 'number' }, note: { type: 'string' } }
    expect(fill(properties, 'price: 3', [{ price: 1 }, { price: 2, note: 7 }])).toEqual({ price: 2, note: 'price: 3' })
  })

  test('provides everything required, declared or not', () => {
    expect(fillSchema({ type: 'object', required: ['a', '__proto__'] }, { message: 'm', results: [] })).toHaveProperty(
      'a',
      'm',
    )
  })

  test('follows references, even recursive ones, and terminates', () => {
    const schema: JsonObject = {
      $defs: { node: { type: 'object', properties: { name: { type: 'string' }, next: { $ref: '#/$defs/node' } } } },
      type: 'object',
      properties: { head: { $ref: '#/$defs/node' } },
    }
    expect(JSON.stringify(fillSchema(schema, { message: 'm', results: [] }))).toContain('"name":"m"')
    expect(fill({ a: { $ref: '#/nowhere' }, b: { $ref: 'https://x.example' } }, 'm')).toEqual({ a: 'm', b: 'm' })
  })

  test('satisfies every kind of schema that it supports, with the same result each time', () => {
    const schema: JsonObject = {
      type: 'object',
      properties: {
        id: { type: 'integer', minimum: 1, maximum: 9 },
        tags: { type: 'array', items: { enum: ['a', 'b'] }, minItems: 1 },
        who: { type: 'object', properties: { mail: { type: 'string', format: 'email' } }, required: ['mail'] },
        size: { oneOf: [{ type: 'string', minLength: 1 }] },
      },
      required: ['id', 'tags', 'who', 'size'],
      additionalProperties: false,
    }
    for (const message of ['', 'a b 12', '__proto__: x', 'x'.repeat(10_000)]) {
      const value = fillSchema(schema, { message: message || 'm', results: [] })
      expect(checkOutput(schema, value), message.slice(0, 20)).toEqual([])
      expect(fillSchema(schema, { message: message || 'm', results: [] })).toEqual(value)
    }
  })
})

describe('a hostile pattern in a schema', () => {
  test('does not block the service', async () => {
    const schema: JsonObject = { type: 'object', properties: { x: { type: 'string', pattern: '^(a+)+$' } } }
    const took = await quickest(2_000, () => {
      expect(checkOutput(schema, { x: `${'a'.repeat(50_000)}!` })).toHaveLength(1)
    })
    expect(took).toBeLessThan(2_000)
  })
})

describe('the built-in model', () => {
  let database: FreshDatabase
  let ctx: ServiceContext
  const never = new AbortController().signal
  const invoke = (agentId: string, message: string) => invokeAgent(ctx, { agentId, body: { message } }, never)
  beforeAll(async () => {
    for (const name of ['OPENAI_API_KEY', 'ANTHROPIC_API_KEY', 'GOOGLE_GENERATIVE_AI_API_KEY']) delete process.env[name]
    Object.assign(process.env, { ENCRYPTION_KEY: 'ab'.repeat(32), LOG_LEVEL: 'fatal', AGENT_TIMEOUT_MS: '20000' })
    database = await freshDatabase()
  })
  beforeEach(async () => {
    ctx = await newTenant(database)
  })
  afterAll(async () => {
    await stopSandbox()
    await database.close()
  })

  test('reports that it answered, and calls the tool named in the message', async () => {
    const tool = await newScriptTool(ctx, 'return { amount: args.a + args.b }')
    const { id } = await newAgent(ctx, { tools: [tool] })
    const { data, metadata } = await invoke(id, `use ${tool} {"a": 40, "b": 2}, item: lamps`)
    expect(data).toEqual({ item: 'lamps', amount: 42 })
    expect(metadata).toMatchObject({ provider: 'scripted', rounds: 1, toolCalls: 1 })
    const other = await newScriptTool(ctx, 'return { amount: 1 }')
    expect((await invoke(id, `use ${other} {}`)).metadata.toolCalls).toBe(0)
  })

  test.each(['Add two amounts', 'add_two_amounts', 'ADD TWO AMOUNTS'])('calls a tool by its name: %s', async (said) => {
    const code = 'return { amount: args.a + args.b }'
    const tools = [
      await newScriptTool(ctx, 'return {}', { name: 'Add' }),
      await newScriptTool(ctx, code, { name: 'Add two amounts' }),
    ]
    const { id } = await newAgent(ctx, { tools })
    const { data } = await invoke(id, `Please use ${said} {"a": 40, "b": 2}, item: lamps`)
    expect(data).toEqual({ item: 'lamps', amount: 42 })
    expect((await invoke(id, 'use Add two {"a": 40, "b": 2}')).metadata.toolCalls).toBe(0)
  })

  test.each(['openai', 'anthropic', 'google'])('stands in for %s while there is no key', async (provider) => {
    const { id } = await newAgent(ctx, { model: { provider, modelId: 'some-model' } })
    expect((await invoke(id, '3 chairs')).metadata).toMatchObject({ provider: 'scripted', modelId: 'scripted' })
  })

  test('does not replace a model whose secret is missing: that is an error', async () => {
    const { id } = await newAgent(ctx, { model: { provider: 'openai', modelId: 'm', apiKey: '${secrets.MINE}' } })
    const { code, details } = await refusal(invoke(id, 'x'))
    expect([code, details[0]?.message]).toEqual([
      'MODEL_ERROR',
      'openai needs the secret MINE, which is not in the vault',
    ])
    const stranger = await newTenant(database)
    await setVaultSecret(stranger, { name: 'MINE', value: 'sk-of-a-stranger' })
    expect((await refusal(invoke(id, 'x'))).details).toEqual(details)
  })
})
