import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { publishAgent, updateAgent } from '@/server/agents/lifecycle'
import { readTurns } from '@/server/agents/turns'
import type { ServiceContext } from '@/server/context'
import { listTools } from '@/server/mcp/tools'
import { meansTool, toolName } from '@/server/models/tool-names'
import { updateTool } from '@/server/tools/lifecycle'
import { stopSandbox } from '@/server/tools/sandbox/run-script'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { type ModelServer, startModelServer } from '../support/model'
import { chat, invokeAgent } from '../support/talk'
import { newScriptTool, newTenant } from '../support/tenant'
import { history, newAgent } from './support'

let database: FreshDatabase
let ctx: ServiceContext
let model: ModelServer
const never = new AbortController().signal
const ORDER = { text: JSON.stringify({ item: 'Chair', amount: 2 }) }

beforeAll(async () => {
  database = await freshDatabase()
  model = await startModelServer()
  Object.assign(process.env, {
    DATABASE_URL: database.url,
    ENCRYPTION_KEY: 'ab'.repeat(32),
    ALLOW_PRIVATE_HOSTS: '127.0.0.1',
  })
})
beforeEach(async () => {
  ctx = await newTenant(database)
})
afterAll(async () => {
  await stopSandbox()
  await model?.close()
  await database?.close()
})

interface Asked {
  tools?: { function: { name: string } }[]
  messages: { role: string; content: string; tool_calls?: { function: { name: string } }[] }[]
}
const asked = (call: number): Asked => model.calls[call]?.body as Asked
const offered = (call: number) => (asked(call).tools ?? []).map((tool) => tool.function.name)
const called = (call: number) =>
  asked(call).messages.flatMap(({ tool_calls = [] }) => tool_calls.map((one) => one.function.name))
const results = (call: number) =>
  asked(call).messages.flatMap(({ role, content }) => (role === 'tool' ? [content] : []))
const say = (agentId: string, threadId?: string) =>
  invokeAgent(ctx, { agentId, body: { message: 'x', ...(threadId ? { threadId } : {}) } }, never)
const hex = () => randomBytes(6).toString('hex')

test('a model and an MCP client know a tool by the same name, which says what it is', async () => {
  const id = await newScriptTool(ctx, 'return 1', { name: 'Prüfe Lager!' })
  const { id: agentId } = await newAgent(ctx, { name: 'Order clerk', tools: [id] }, model)
  await publishAgent(ctx, { id: agentId })
  model.script(ORDER)
  await say(agentId)
  expect(offered(0)).toEqual([expect.stringMatching(/^prufe_lager_[0-9a-f]{12}$/)])
  const { tools } = await listTools(ctx)
  expect(tools.map(({ name }) => name)).toContain(offered(0)[0])
})

test('two tools of one name are two, and events, threads and results have their ids', async () => {
  const [first, second] = await Promise.all(
    ['first', 'second'].map((text) => newScriptTool(ctx, `return "${text}"`, { name: 'Look up' })),
  )
  const { id } = await newAgent(ctx, { tools: [first, second] }, model)
  model.answer((_call, index) =>
    index === 0 ? { calls: offered(0).map((name, at) => ({ name, args: {}, id: `c${at}` })) } : ORDER,
  )
  const { threadId } = await say(id)
  expect(new Set(offered(0)).size).toBe(2)
  expect(results(1)).toEqual(['"first"', '"second"'])
  const [turn] = await readTurns(ctx, threadId, { before: null, limit: 1 })
  expect(turn?.toolCalls.map(({ toolId }) => toolId)).toEqual([first, second])
})

test('a thread goes on under the present names after a rename, and after a tool is gone', async () => {
  const kept = await newScriptTool(ctx, 'return "kept"', { name: 'Old name' })
  const gone = await newScriptTool(ctx, 'return "gone"', { name: 'Gone' })
  const { id } = await newAgent(ctx, { tools: [kept, gone] }, model)
  // As before tools had names of their own: a model calls them by id, and the thread has the ids.
  model.script(
    {
      calls: [
        { name: kept, args: {} },
        { name: gone, args: {}, id: 'other' },
      ],
    },
    ORDER,
  )
  const { threadId } = await say(id)
  expect(results(1)).toEqual(['"kept"', '"gone"'])
  const before = offered(0)[0] ?? ''
  expect(JSON.stringify(await history(ctx, threadId))).not.toContain(before)
  await updateTool(ctx, { id: kept, body: { name: 'New name' } })
  await updateAgent(ctx, { id, body: { tools: [kept] } })
  // A model may repeat a name that it has seen earlier.
  model.script({ calls: [{ name: before, args: {} }] }, ORDER)
  await say(id, threadId)
  const now = toolName('tool', kept, 'New name')
  expect([offered(0), called(0)]).toEqual([[now], [now, gone]])
  expect([results(1).at(-1), called(1).at(-1)]).toEqual(['"kept"', now])
})

test('a hand-over has the agent’s name, and is stored with its id', async () => {
  const { id: clerk } = await newAgent(ctx, { name: 'Order clerk', outputSchema: null }, model)
  const { id: boss } = await newAgent(
    ctx,
    { name: 'Boss', supervisor: true, outputSchema: null, handoffs: [clerk] },
    model,
  )
  model.answer((_call, index) =>
    index === 0
      ? { calls: [{ name: offered(0)[0] ?? '', args: { message: 'go' } }] }
      : { text: index === 1 ? 'From the clerk.' : 'Done.' },
  )
  const { threadId } = await chat(ctx, { agentId: boss, message: 'x' }, never)
  expect(offered(0)).toEqual([`handoff_${toolName('agent', clerk, 'Order clerk')}`])
  expect(results(2)).toEqual([JSON.stringify({ message: 'From the clerk.' })])
  const [turn] = await readTurns(ctx, threadId, { before: null, limit: 1 })
  expect(turn?.toolCalls.map(({ toolId }) => toolId)).toEqual([`handoff_${clerk}`])
})

test('every name has at most 64 letters, digits, _ and -, whatever the object is called', () => {
  for (const name of ['', '___', '日本語', 'x'.repeat(500), `${'a'.repeat(35)}_-b`, '../x "', 'É'.repeat(40)])
    for (const given of [toolName('tool', hex(), name), `handoff_${toolName('agent', hex(), name)}`])
      expect(given).toMatch(/^[a-z0-9][a-z0-9_]{0,63}$/)
})

test('a text means a tool by its name, a former name or its id, and no other', () => {
  const [id, other] = ['tool_01M8', 'tool_01M9']
  const name = toolName('tool', id, 'Add')
  expect([name, id, toolName('tool', id, 'Sum')].every((text) => meansTool(text, name))).toBe(true)
  const others = [other, toolName('tool', other, 'Add'), 'add', '', `handoff_${id}`, toolName('agent', id, 'Add')]
  expect(others.some((text) => meansTool(text, name))).toBe(false)
  const handOff = `handoff_${toolName('agent', 'agt_1', 'Clerk')}`
  expect([meansTool('handoff_agt_1', handOff), meansTool('agt_1', handOff)]).toEqual([true, false])
})
