import { afterAll, beforeAll, expect, test } from 'vitest'
import { createAgent, updateAgent } from '@/server/agents/lifecycle'
import type { ServiceContext } from '@/server/context'
import { beginChat, beginDraftChat, openChat, openUiChat } from '@/server/talk/chat'
import { invokeDraftTool } from '@/server/tools/invoke-draft'
import { createTool } from '@/server/tools/lifecycle'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { chat, invokeDraftAgent } from '../support/talk'
import { newTenant } from '../support/tenant'
import { newAgent } from './support'

let database: FreshDatabase
let ctx: ServiceContext
const never = new AbortController().signal

beforeAll(async () => {
  database = await freshDatabase()
  ctx = await newTenant(database)
})
afterAll(() => database?.close())

const refusal = (details: object[]) => ({ code: 'INVALID_INPUT', details })
const NO_FILE = { path: 'file', message: 'This call has no such field. Did you mean files?' }

test('a chat and a draft that is tried refuse unknown fields, as an invoke does', async () => {
  const { id: agentId } = await newAgent(ctx)
  const said = { agentId, message: 'Two apples', file: 'x' }
  await expect(chat(ctx, said, never)).rejects.toMatchObject(refusal([NO_FILE]))
  await expect(beginChat(ctx, said, never)).rejects.toMatchObject(refusal([NO_FILE]))
  await expect(openChat(ctx, { body: said, lastEventId: null }, never)).rejects.toMatchObject(refusal([NO_FILE]))
  await expect(beginDraftChat(ctx, { ...said, draft: {} } as never, never)).rejects.toMatchObject(refusal([NO_FILE]))
  const misspelt = { path: 'datacontext', message: 'This call has no such field. Did you mean dataContext?' }
  const message = { id: 'm', role: 'user', parts: [{ type: 'text', text: 'Hi' }] }
  const ui = { agentId, id: 'c', messages: [message], trigger: 'submit-message', datacontext: {} }
  await expect(openUiChat(ctx, ui, never)).rejects.toMatchObject(refusal([misspelt]))
  const body = { message: 'Two apples', draft: {}, datacontext: {} }
  await expect(invokeDraftAgent(ctx, { agentId, body }, never)).rejects.toMatchObject(refusal([misspelt]))
  const tool = { name: 'Add', kind: 'script', config: { code: 'return 1' } }
  const { id: toolId } = await createTool(ctx, tool as never)
  const arg = { path: 'arg', message: 'This call has no such field. Did you mean args?' }
  await expect(invokeDraftTool(ctx, { toolId, body: { arg: {}, draft: {} } }, never)).rejects.toMatchObject(
    refusal([arg]),
  )
})

test('settings of an agent and a tool refuse unknown fields; around them, a body may have more', async () => {
  const model = { provider: 'scripted', modelId: 'm' }
  const wrong = (path: string, message: string) => refusal([{ path, message: `has no field ${message}` }])
  const make = (fields: object) => createAgent(ctx, { name: 'A', ...fields } as never)
  await expect(make({ model: { ...model, setings: {} } })).rejects.toMatchObject(
    wrong('model', 'setings (did you mean settings?)'),
  )
  await expect(make({ model: { ...model, settings: { temprature: 1 } } })).rejects.toMatchObject(
    wrong('model.settings', 'temprature (did you mean temperature?)'),
  )
  await expect(make({ model: { ...model, prices: { input: 1, output: 1, cached: 1 } } })).rejects.toMatchObject(
    wrong('model.prices', 'cached'),
  )
  await expect(make({ tools: [{ toolId: 't', verson: 1 }] })).rejects.toMatchObject(
    wrong('tools[0]', 'verson (did you mean version?)'),
  )
  await expect(make({ handoffs: [{ agentId: 'a', verson: 1 }] })).rejects.toMatchObject(
    wrong('handoffs[0]', 'verson (did you mean version?)'),
  )
  const config = { code: 'return 1', timeout: 5 }
  await expect(createTool(ctx, { name: 'T', kind: 'script', config } as never)).rejects.toMatchObject(
    wrong('config', 'timeout (did you mean timeoutMs?)'),
  )
  const made = await make({ model, note: 'ours' })
  // A GET's answer may be sent back.
  expect(await updateAgent(ctx, { id: made.id, body: { ...made, name: 'B' } } as never)).toMatchObject({ name: 'B' })
})
