import { type ChildProcess, spawn } from 'node:child_process'
import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { invokeAgent } from '@/server/agents/invoke'
import type { ServiceContext } from '@/server/context'
import { createTool } from '@/server/tools/create'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { type ModelServer, startModelServer } from '../support/model'
import { newTenant } from '../support/tenant'
import { newAgent } from './support'

const SERVER = 'node_modules/@modelcontextprotocol/server-everything/dist/index.js'

let database: FreshDatabase
let ctx: ServiceContext
let model: ModelServer
let server: ChildProcess
let url: string
beforeAll(async () => {
  Object.assign(process.env, { ALLOW_PRIVATE_HOSTS: '127.0.0.1', LOG_LEVEL: 'fatal' })
  database = await freshDatabase()
  ctx = await newTenant(database)
  model = await startModelServer()
  const port = await freePort()
  url = `http://127.0.0.1:${port}/mcp`
  const env = { PATH: process.env.PATH, PORT: String(port) } as unknown as NodeJS.ProcessEnv
  const cwd = fileURLToPath(new URL('../..', import.meta.url))
  server = spawn(process.execPath, [SERVER, 'streamableHttp'], { cwd, env, stdio: 'ignore' })
  for (let left = 200; !(await fetch(url).catch(() => null)); left--) {
    if (left === 0) throw new Error('the MCP server did not start')
    await sleep(100)
  }
})
afterAll(async () => {
  const gone = new Promise((done) => server.once('exit', done))
  server.kill('SIGKILL')
  await gone
  await model.close()
  await database.drop()
})

async function freePort(): Promise<number> {
  const probe = createServer()
  await new Promise<void>((done) => probe.listen(0, '127.0.0.1', done))
  const address = probe.address()
  await new Promise((done) => probe.close(done))
  return typeof address === 'object' && address ? address.port : 0
}

test('an agent calls a tool of a real MCP server, and is told what that says no to', async () => {
  const { id: sum } = await createTool(ctx, { name: 'Sum', kind: 'mcp', config: { url, toolName: 'get-sum' } })
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
