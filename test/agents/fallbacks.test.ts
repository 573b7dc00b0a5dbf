import type { ModelMessage } from 'ai'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createAgent, getAgent, updateAgent } from '@/server/agents/lifecycle'
import { readableFor } from '@/server/agents/model-history'
import type { ServiceContext } from '@/server/context'
import { openChat, openUiChat } from '@/server/talk/chat'
import { setVaultSecret } from '@/server/vault/set'
import { browseVault } from '@/server/views/vault'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { type ModelServer, type Reply, startModelServer } from '../support/model'
import { startTestRuntime, type TestRuntime } from '../support/runtime'
import { chat, invokeAgent } from '../support/talk'
import { newScriptTool } from '../support/tenant'
import { newAgent } from './support'

let database: FreshDatabase
let runtime: TestRuntime
let ctx: ServiceContext
let main: ModelServer
let other: ModelServer
let third: ModelServer
const never = new AbortController().signal

beforeAll(async () => {
  database = await freshDatabase({ max: 10 })
  main = await startModelServer()
  other = await startModelServer()
  third = await startModelServer()
  const settings = { ALLOW_PRIVATE_HOSTS: '127.0.0.1', AGENT_TIMEOUT_MS: '3000', ENCRYPTION_KEY: 'ab'.repeat(32) }
  runtime = await startTestRuntime(database.url, settings)
  ctx = runtime.ctx
})
beforeEach(() => {
  for (const server of [main, other, third]) server.script()
})
afterAll(async () => {
  await runtime?.stop()
  for (const server of [main, other, third]) await server?.close()
  await database?.close()
})

const at = (server: ModelServer, modelId = 'm') => ({ provider: 'openai-compatible', modelId, baseUrl: server.url })
const order = { item: 'chairs', amount: 12 }
const answer: Reply = { text: JSON.stringify(order) }
const down: Reply = { status: 503, headers: { 'retry-after-ms': '10' } }
const pair = (fields: object = {}) => newAgent(ctx, { fallbacks: [at(other, 'o')], ...fields }, main)
const invoke = (agentId: string, threadId?: string) =>
  invokeAgent(ctx, { agentId, body: { message: 'x', ...(threadId ? { threadId } : {}) } }, never)
const counts = () => [main, other, third].map(({ calls }) => calls.length)

test('the next model answers after two tries of the one before it, and the metadata says so', async () => {
  const { id } = await pair({ fallbacks: [at(other, 'o'), at(third, 't')] })
  main.script(down, down)
  other.script(down, down)
  third.script(down, down, down, answer)
  expect(await invoke(id)).toMatchObject({ data: order, metadata: { modelId: 't', fallback: true, version: 1 } })
  // The last one has as many tries as ever.
  expect(counts()).toEqual([2, 2, 4])
  main.script(answer)
  const { metadata } = await invoke(id)
  expect(metadata).not.toHaveProperty('fallback')
  expect(metadata.modelId).toBe('m')
})

test('a model that is asked to wait for long, that hangs or that cannot be reached is passed over', async () => {
  const { id } = await pair()
  const lost = await startModelServer()
  await lost.close()
  other.answer(() => answer)
  main.script({ status: 429, headers: { 'retry-after': '30' } })
  expect((await invoke(id)).metadata.fallback).toBe(true)
  expect(main.calls).toHaveLength(1)
  main.script({ hang: true })
  expect((await invoke(id)).metadata.fallback).toBe(true)
  const { id: unreachable } = await newAgent(ctx, { model: at(lost), fallbacks: [at(other)] })
  expect((await invoke(unreachable)).metadata.fallback).toBe(true)
})

test.each<[string, Reply[]]>([
  ['key', [{ status: 401 }]],
  ['too-long', [{ status: 400, body: '{"error":{"code":"context_length_exceeded","message":"m"}}' }]],
  ['refused', [{ message: { content: null, refusal: 'No.' } }]],
  ['refused', [{ message: { content: 'Half' }, finish: 'content_filter' }]],
])('%s passes on only if the agent says so', async (kind, replies) => {
  main.script(...replies, ...replies)
  other.script(answer)
  const { id } = await pair()
  await expect(invoke(id)).rejects.toMatchObject({ code: 'MODEL_ERROR' })
  expect(other.calls).toHaveLength(0)
  const { id: willing } = await pair({ fallbackOn: [kind] })
  const { metadata } = await invoke(willing)
  expect(metadata).toMatchObject({ fallback: true, usage: { totalTokens: kind === 'refused' ? 30 : 15 } })
  // Other reasons do not count any more, and leave the first model all its tries.
  main.script(down, down, down, answer)
  expect((await invoke(willing)).metadata).not.toHaveProperty('fallback')
})

test('the rest of a turn stays with the model that answered, the next turn begins with the first', async () => {
  const tool = await newScriptTool(ctx, 'return 1')
  const { id } = await pair({ tools: [tool] })
  main.script(down, down, answer)
  other.script({ calls: [{ name: tool, args: {} }] }, answer)
  const { threadId, metadata } = await invoke(id)
  expect(metadata).toMatchObject({ fallback: true, rounds: 1, toolCalls: 1 })
  expect(counts()).toEqual([2, 2, 0])
  expect((await invoke(id, threadId)).metadata).not.toHaveProperty('fallback')
})

test('a model without a key is left out; scripted answers only if none has one', async () => {
  const openai = { provider: 'openai', modelId: 'gpt-5.4' }
  const named = { ...at(third), apiKey: '${secrets.NOT_THERE_YET}' }
  const { id } = await newAgent(ctx, { model: openai, fallbacks: [named, at(other, 'o')] })
  other.script(answer)
  expect((await invoke(id)).metadata).toMatchObject({ provider: 'openai-compatible', modelId: 'o', fallback: true })
  const { id: none } = await newAgent(ctx, { model: openai, fallbacks: [{ ...openai, modelId: 'gpt-4.1' }] })
  const { metadata } = await invoke(none)
  expect(metadata.provider).toBe('scripted')
  expect(metadata).not.toHaveProperty('fallback')
})

test('after text was passed on, an event precedes the text of the next model', async () => {
  const { id: agentId } = await pair({ outputSchema: null })
  const broken = () => {
    main.script({ text: 'It is rai', breaks: true })
    other.script({ text: 'It snows.' })
  }
  broken()
  const events: { event: string; data: unknown }[] = []
  const body = { agentId, message: 'weather?' }
  const source = await openChat(ctx, { body, lastEventId: null }, never)
  for await (const event of source?.(never) ?? []) events.push(event)
  const restart = events.findIndex(({ event }) => event === 'message.restart')
  expect(events[restart]?.data).toEqual({ agentId })
  const said = (some: typeof events) => some.map(({ data }) => (data as { text?: string }).text ?? '').join('')
  expect([said(events.slice(0, restart)), said(events.slice(restart))]).toEqual(['It is rai', 'It snows.'])
  expect(events.at(-1)).toMatchObject({ event: 'message.done', data: { message: 'It snows.' } })

  broken()
  const ui = { agentId, id: 'c', trigger: 'submit-message' }
  const messages = [{ id: 'm', role: 'user', parts: [{ type: 'text', text: 'Hi' }] }]
  const parts: { type?: string; id?: string; data?: unknown }[] = []
  const stream = await openUiChat(ctx, { ...ui, messages }, never)
  for await (const event of stream(never)) if ('data' in event) parts.push(event.data as never)
  const types = parts.map(({ type }) => type).filter((type) => type !== 'text-delta')
  expect(types.slice(2, -2)).toEqual(['text-start', 'text-end', 'data-restart', 'text-start', 'text-end'])
  expect(parts.find(({ type }) => type === 'data-restart')?.data).toEqual({ id: 'text-1' })

  // Nothing was passed on yet, so there is nothing to take back.
  main.script(down, down)
  other.script({ text: 'It snows.' })
  const quiet = await openChat(ctx, { body, lastEventId: null }, never)
  for await (const { event } of quiet?.(never) ?? []) expect(event).not.toBe('message.restart')
})

test('a turn of a run goes on with the model that answered, in whichever attempt, and its calls say what was tried', async () => {
  const tool = await newScriptTool(ctx, 'return 1')
  const { id: agentId } = await pair({ tools: [tool] })
  main.answer(() => down)
  const failing = { status: 503, headers: { 'retry-after-ms': '3000' } }
  other.answer((_call, index) => [{ calls: [{ name: tool, args: {} }] }, failing][index] ?? answer)
  const steps = [
    { id: 'ask', type: 'call-agent', agentId, message: 'x' },
    { id: 'end', type: 'end-flow' },
  ]
  const run = await runtime.wait(await runtime.start({ steps, edges: [{ from: 'ask', to: 'end' }] }))
  expect(run).toMatchObject({
    status: 'completed',
    stepExecutionHistory: [{ attempt: 2, usage: { fallback: true } }, {}],
  })
  expect(counts()).toEqual([2, 3, 0])
  const rows = await database.sql`
    select c.kind, c.name, c.provider, c.fallback, c.tried from agent_calls c
    join agent_turns t on t.id = c.turn_id where t.run_id = ${run.runId} order by c.seq`
  const tried = [{ provider: 'openai-compatible', modelId: 'm', why: 'unavailable' }]
  const by = { kind: 'model', name: 'o', provider: 'openai-compatible', fallback: 1 }
  expect(rows).toEqual([
    { ...by, tried },
    { kind: 'tool', name: tool, provider: null, fallback: null, tried: null },
    { ...by, tried: null },
  ])
})

test('another model gets neither reasoning nor options that only the first one can read', async () => {
  const said: ModelMessage = {
    role: 'assistant',
    content: [
      { type: 'reasoning', text: 'Hm.', providerOptions: { anthropic: { signature: 's' } } },
      { type: 'text', text: 'Yes', providerOptions: { anthropic: { a: 1 }, openaiCompatible: { b: 1 } } },
    ],
  }
  expect(readableFor('anthropic', said)).toMatchObject({ content: [{ type: 'reasoning' }, { type: 'text' }] })
  expect(readableFor('openai-compatible', said)).toEqual({
    role: 'assistant',
    content: [{ type: 'text', text: 'Yes', providerOptions: { openaiCompatible: { b: 1 } } }],
  })
  const tool = await newScriptTool(ctx, 'return 1')
  const { id } = await pair({ tools: [tool] })
  const calls = [{ id: 'c', type: 'function', function: { name: tool, arguments: '{}' } }]
  main.script({ message: { content: null, reasoning_content: 'Hm.', tool_calls: calls } }, down, down)
  other.script(answer)
  await invoke(id)
  const sent = ({ calls }: ModelServer) => JSON.stringify(calls.at(-1)?.body.messages)
  expect(sent(main)).toContain('Hm.')
  expect(sent(other)).not.toContain('Hm.')
  expect(sent(other)).toContain('tool_calls')
})

test('agents without fall-backs show none, and an empty list removes them', async () => {
  const plain = await newAgent(ctx, {}, main)
  expect(Object.keys(plain)).not.toContain('fallbacks')
  const { id } = await pair({ fallbackOn: ['key'] })
  expect(await getAgent(ctx, { id })).toMatchObject({ fallbacks: [{ modelId: 'o' }], fallbackOn: ['key'] })
  const less = await updateAgent(ctx, { id, body: { fallbacks: [] } })
  expect(Object.keys(less)).toEqual(Object.keys(plain))
  main.script({ status: 401 })
  await expect(chat(ctx, { agentId: id, message: 'x' }, never)).rejects.toMatchObject({ code: 'MODEL_ERROR' })
})

test('fall-backs are checked as models are, and the vault names the agents that use its keys for them', async () => {
  const make = (fields: object) => createAgent(ctx, { name: 'A', model: at(main), ...fields } as never)
  const refused = (path: string) => ({ code: 'INVALID_INPUT', details: [expect.objectContaining({ path })] })
  const scripted = { provider: 'scripted', modelId: 'scripted' }
  await expect(make({ fallbacks: [scripted] })).rejects.toMatchObject(refused('fallbacks[0]'))
  await expect(make({ fallbacks: Array(4).fill(at(other)) })).rejects.toMatchObject(refused('fallbacks'))
  await expect(make({ fallbackOn: ['never'] })).rejects.toMatchObject(refused('fallbackOn[0]'))
  const local = { ...at(other), baseUrl: 'http://10.0.0.1/v1' }
  await expect(make({ fallbacks: [at(other), local] })).rejects.toMatchObject(refused('fallbacks[1].baseUrl'))
  await setVaultSecret(ctx, { name: 'SPARE_KEY', value: 'a-key-that-is-long-enough', hosts: ['127.0.0.1'] })
  const { id } = await make({ fallbacks: [{ ...at(other), apiKey: '${secrets.SPARE_KEY}' }] })
  const [spare] = (await browseVault(ctx)).filter(({ name }) => name === 'SPARE_KEY')
  expect(JSON.stringify(spare)).toContain(id)
})

test('a retry keeps the answers after one that was passed over, and asks no model about them again', async () => {
  const tool = await newScriptTool(ctx, 'return 1')
  const { id: agentId } = await pair({ tools: [tool], fallbackOn: ['refused'] })
  main.script({ message: { content: null, refusal: 'No.' }, finish: 'content_filter' })
  other.script({ calls: [{ name: tool, args: {} }] }, { status: 400 })
  const steps = [
    { id: 'ask', type: 'call-agent', agentId, message: 'x' },
    { id: 'end', type: 'end-flow' },
  ]
  const failed = await runtime.wait(await runtime.start({ steps, edges: [{ from: 'ask', to: 'end' }] }))
  expect(failed.status).toBe('failed')
  const [refused] = await database.sql`
    select c.error_code from agent_calls c join agent_turns t on t.id = c.turn_id
    where t.run_id = ${failed.runId} and c.seq = 1`
  expect(refused).toMatchObject({ error_code: 'MODEL_ERROR' })
  main.script()
  other.script(answer)
  const { retryRun } = await import('@/server/runs/retry')
  const run = await runtime.wait((await retryRun(ctx, { runId: failed.runId })).runId)
  expect([run.status, ...counts()]).toEqual(['completed', 0, 1, 0])
})
