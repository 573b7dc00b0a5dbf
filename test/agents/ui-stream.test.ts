import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Chat } from '@ai-sdk/react'
import { DefaultChatTransport, type UIMessage } from 'ai'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createApiKey } from '@/server/credentials/api-keys/create'
import { createApiListener } from '@/server/rest/listener/create'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { type ModelServer, startModelServer } from '../support/model'
import { startTestRuntime, type TestRuntime } from '../support/runtime'
import { newScriptTool } from '../support/tenant'
import { history, newAgent } from './support'

// The client is the AI SDK's own: the chat that `useChat` draws, with its default transport.

let database: FreshDatabase
let runtime: TestRuntime
let service: Server
let api: string
let key: string
let model: ModelServer

beforeAll(async () => {
  database = await freshDatabase()
  runtime = await startTestRuntime(database.url, { ENCRYPTION_KEY: 'ab'.repeat(32), ALLOW_PRIVATE_HOSTS: '127.0.0.1' })
  key = (await createApiKey(runtime.ctx, { name: 'test', role: 'owner' })).key
  model = await startModelServer()
  const listen = createApiListener({ '/api/chat': await import('@/app/api/chat/route') })
  service = createServer((request, response) => void listen(request, response))
  await once(service.listen(0, '127.0.0.1'), 'listening')
  api = `http://127.0.0.1:${(service.address() as AddressInfo).port}/api/chat`
})
afterAll(async () => {
  service?.closeAllConnections()
  service?.close()
  await model?.close()
  await runtime?.stop()
  await database?.close()
})

type Metadata = { threadId: string; usage?: { totalTokens: number } }
type Message = UIMessage<Metadata>

class Finished extends Chat<Message> {
  finished: { isAbort: boolean; finishReason: string | undefined } | null = null
  constructor(agentId: string, id: string) {
    super({
      id,
      transport: new DefaultChatTransport({ api, headers: { 'x-api-key': key }, body: { agentId } }),
      onFinish: ({ isAbort, finishReason }) => {
        this.finished = { isAbort, finishReason }
      },
    })
  }
}

let chats = 0
const chatWith = (agentId: string, id = `chat-${++chats}`) => new Finished(agentId, id)
const speaker = (fields: object = {}) => newAgent(runtime.ctx, { outputSchema: null, ...fields }, model)
const partsOf = (chat: Finished) => chat.lastMessage?.parts ?? []

describe('the default transport of @ai-sdk/react', () => {
  test('gets the answer in pieces, with its thread and its usage', async () => {
    const { id } = await speaker()
    model.script({ text: 'Good day to you.' })
    const chat = chatWith(id)
    await chat.sendMessage({ text: 'Hello' })
    expect([chat.status, chat.error, chat.finished?.finishReason]).toEqual(['ready', undefined, 'stop'])
    expect(partsOf(chat)).toEqual([{ type: 'step-start' }, { type: 'text', text: 'Good day to you.', state: 'done' }])
    expect(chat.lastMessage?.metadata).toMatchObject({
      threadId: expect.stringMatching(/^thr_/),
      usage: { totalTokens: 15 },
    })
  })

  test('continues the thread that its chat’s id stands for, or that it names', async () => {
    const { id } = await speaker()
    model.script({ text: 'One.' }, { text: 'Two.' }, { text: 'Three.' })
    const chat = chatWith(id)
    await chat.sendMessage({ text: 'first' })
    await chat.sendMessage({ text: 'second' })
    const said = (call: number) => model.calls[call]?.body.messages.map((one: { content: string }) => one.content)
    expect(said(1).slice(1)).toEqual(['first', 'One.', 'second'])
    const threadId = chat.lastMessage?.metadata?.threadId ?? ''
    const other = chatWith(id, threadId)
    await other.sendMessage({ text: 'third' })
    expect(said(2).slice(1)).toEqual(['first', 'One.', 'second', 'Two.', 'third'])
    expect(other.lastMessage?.metadata?.threadId).toBe(threadId)
    expect(new Set([chat, other].flatMap(({ messages }) => messages.map((one) => one.id))).size).toBe(6)
  })

  test('sees each tool call with its input, and its output or error, in steps', async () => {
    const add = await newScriptTool(runtime.ctx, 'return args.a + args.b')
    const fail = await newScriptTool(runtime.ctx, 'throw new Error("no luck")')
    const { id } = await speaker({ tools: [add, fail] })
    model.script(
      { calls: [{ name: add, args: { a: 1, b: 2 } }] },
      // The server numbers its calls anew in each round.
      {
        calls: [
          { name: add, args: { a: 3, b: 4 } },
          { name: fail, args: {}, id: 'other' },
        ],
      },
      { text: 'Done.' },
    )
    const chat = chatWith(id)
    await chat.sendMessage({ text: 'add' })
    const call = { type: 'dynamic-tool', toolName: add, state: 'output-available' }
    expect(partsOf(chat)).toMatchObject([
      { type: 'step-start' },
      { ...call, toolCallId: 'call_0', input: { a: 1, b: 2 }, output: 3 },
      { ...call, toolCallId: 'call_0_2', input: { a: 3, b: 4 }, output: 7 },
      { type: 'dynamic-tool', toolName: fail, state: 'output-error', errorText: expect.stringContaining('no luck') },
      { type: 'step-start' },
      { type: 'text', text: 'Done.' },
    ])
  })

  test('learns why an answer is incomplete, and that it failed', async () => {
    const { id } = await speaker()
    model.script({ message: { content: 'The notice period' }, finish: 'length' }, { status: 400 })
    const chat = chatWith(id)
    await chat.sendMessage({ text: 'x' })
    expect([chat.status, chat.finished?.finishReason]).toEqual(['ready', 'length'])
    await chat.sendMessage({ text: 'y' })
    expect([chat.status, chat.error?.message]).toEqual([
      'error',
      expect.stringMatching(/^MODEL_ERROR: .*\nopenai-compatible answered with status 400$/),
    ])
    model.script({ text: 'Again.' })
    await chat.regenerate()
    expect([chat.status, partsOf(chat).at(-1)]).toMatchObject(['ready', { text: 'Again.' }])
  })

  test('gets refusals as the errors that they are', async () => {
    const unknown = chatWith('agt_nobody')
    await unknown.sendMessage({ text: 'x' })
    expect(unknown.error?.message).toContain('AGENT_NOT_FOUND')
    const { id } = await speaker()
    const withFile = chatWith(id)
    const file = { type: 'file' as const, mediaType: 'text/plain', url: 'data:text/plain,x' }
    await withFile.sendMessage({ text: 'x', files: [file] })
    expect(withFile.error?.message).toContain('POST /api/files')
    const blank = chatWith(id)
    await blank.sendMessage({ text: ' ' })
    expect(blank.error?.message).toContain('message is required')
  })

  test('stops the answer: the model is no longer asked, and the thread can continue at once', async () => {
    const { id } = await speaker()
    model.script({ text: 'Hello.' })
    const chat = chatWith(id)
    await chat.sendMessage({ text: 'first' })
    model.script({ hang: true }, { text: 'Third.' })
    const stopped = chat.sendMessage({ text: 'second' })
    await expect.poll(() => model.calls.length).toBe(1)
    await chat.stop()
    await stopped
    await expect.poll(() => model.calls[0]?.aborted).toBe(true)
    expect([chat.status, chat.finished?.isAbort]).toEqual(['ready', true])
    await chat.sendMessage({ text: 'third' })
    expect(partsOf(chat).at(-1)).toMatchObject({ text: 'Third.' })
    const kept = await history(runtime.ctx, chat.lastMessage?.metadata?.threadId ?? '')
    expect(kept.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant'])
  })
})

test('the stream is that of the protocol, and the own events stay as they are', async () => {
  const { id } = await speaker()
  model.script({ text: 'Hi.' }, { text: 'Hi.' })
  const post = (body: object) =>
    fetch(api, {
      method: 'POST',
      headers: { 'x-api-key': key, 'content-type': 'application/json' },
      body: JSON.stringify({ agentId: id, ...body }),
    })
  const messages = [{ id: 'm', role: 'user', parts: [{ type: 'text', text: 'x' }] }]
  const ui = await post({ id: 'c', messages, trigger: 'submit-message' })
  expect([ui.status, ui.headers.get('x-vercel-ai-ui-message-stream')]).toEqual([200, 'v1'])
  const data = (await ui.text()).split('\n').filter((line) => line.startsWith('data: '))
  expect(data.at(-1)).toBe('data: [DONE]')
  expect(data.slice(0, -1).map((line) => JSON.parse(line.slice(6)).type)).toEqual([
    ...['start', 'start-step', 'text-start', 'text-delta', 'text-end', 'finish-step', 'finish'],
  ])
  const own = await post({ message: 'x' })
  expect(own.headers.get('x-vercel-ai-ui-message-stream')).toBeNull()
  expect(await own.text()).toMatch(
    /^retry: 2000\n\nid: thr_\w+\.1\.1\nevent: message\.delta\ndata: \{"text":"Hi\.","agentId":"agt_\w+"\}\n\nid: thr_\w+\.1\.2\nevent: message\.done\ndata: \{"message":"Hi\.","threadId":"thr_\w+","usage":\{[^{}]*\},"metadata":\{.*\}\}\n\n$/,
  )
})
