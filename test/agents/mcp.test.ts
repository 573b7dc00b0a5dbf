import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ServiceContext } from '@/server/context'
import { createTool } from '@/server/tools/lifecycle'
import { startOutside } from '../net/outside'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { type McpServer, startMcpServer } from '../support/mcp-server'
import { type ModelServer, startModelServer } from '../support/model'
import { invokeAgent } from '../support/talk'
import { newTenant } from '../support/tenant'
import { newAgent } from './support'

let database: FreshDatabase
let ctx: ServiceContext
let model: ModelServer
let server: McpServer
beforeAll(async () => {
  Object.assign(process.env, { ALLOW_PRIVATE_HOSTS: '127.0.0.1', LOG_LEVEL: 'fatal' })
  database = await freshDatabase()
  ctx = await newTenant(database)
  model = await startModelServer()
  server = await startMcpServer()
})
afterAll(async () => {
  await server.stop()
  await model.close()
  await database.close()
})

test('an agent calls a tool of a real MCP server, and learns what the server rejects', async () => {
  const { id: sum } = await createTool(ctx, {
    name: 'Sum',
    kind: 'mcp',
    config: { url: server.url, toolName: 'get-sum' },
  })
  const { id } = await newAgent(ctx, { tools: [sum] }, model)
  model.script(
    {
      calls: [
        { name: sum, args: { a: 20, b: 22 } },
        { name: sum, args: { a: 'many' }, id: 'wrong' },
      ],
    },
    { text: '{"item":"sum","amount":42}' },
  )
  const { data, metadata } = await invokeAgent(
    ctx,
    { agentId: id, body: { message: 'x' } },
    new AbortController().signal,
  )
  expect([data, metadata.toolCalls]).toEqual([{ item: 'sum', amount: 42 }, 2])
  const [first, second] = model.calls[1]?.body.messages.slice(-2) ?? []
  expect(first.content).toContain('42')
  expect(second.content).toMatch(/^EXECUTION_ERROR/)
})

test('the model learns the structure with which a tool has failed', async () => {
  const outside = await startOutside(({ body }, response) => {
    const { id, method } = JSON.parse(body || '{}')
    const serverInfo = { name: 'x', version: '1' }
    const result =
      method === 'initialize'
        ? { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo }
        : { content: [], structuredContent: { code: 'QUOTA', retryAfter: 30 }, isError: true }
    if (id === undefined) response.writeHead(202).end()
    else response.setHeader('content-type', 'application/json').end(JSON.stringify({ jsonrpc: '2.0', id, result }))
  })
  const config = { url: `${outside.url}/mcp`, toolName: 'order' }
  const { id: tool } = await createTool(ctx, { name: 'Order', kind: 'mcp', config })
  const { id } = await newAgent(ctx, { tools: [tool] }, model)
  model.script({ calls: [{ name: tool, args: {} }] }, { text: '{"item":"none","amount":0}' })
  await invokeAgent(ctx, { agentId: id, body: { message: 'x' } }, new AbortController().signal)
  const said = model.calls[1]?.body.messages.at(-1).content
  expect(said).toBe('EXECUTION_ERROR: The tool order failed.\n{"code":"QUOTA","retryAfter":30}')
  await outside.stop()
})
