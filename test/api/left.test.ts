import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { ServiceContext } from '@/server/context'
import { toolName } from '@/server/models/tool-names'
import { newAgent } from '../agents/support'
import { TEST_ENV } from '../support/api'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { type ModelServer, startModelServer } from '../support/model'
import { rawHttp } from '../support/raw-http'
import { startWeb, type Web } from '../support/service'
import { newScriptTool, newTenant, withRole } from '../support/tenant'
import { newVisitor, type Visitor } from '../trpc/support'

const SECRET = vi.hoisted(() => {
  process.env.NEXTAUTH_SECRET = 'a-secret-of-this-test-that-is-long-enough'
  process.env.ALLOW_PRIVATE_HOSTS = '127.0.0.1'
  return process.env.NEXTAUTH_SECRET
})

let database: FreshDatabase
let model: ModelServer
let silent: Server
let webs: Record<'direct' | 'next', Web>
let ctx: ServiceContext
let visitor: Visitor
let known: { agent: string; script: string; http: string; paused: string }

beforeAll(async () => {
  database = await freshDatabase()
  model = await startModelServer()
  model.answer(() => ({ hang: true }))
  const env = { ...TEST_ENV, NEXTAUTH_SECRET: SECRET, ALLOW_PRIVATE_HOSTS: '127.0.0.1' }
  const direct = await startWeb({ databaseUrl: database.url, env })
  const { tenantId, apiKey } = direct
  const next = await startWeb({ databaseUrl: database.url, tenantId, apiKey, env: { ...env, API_THROUGH_NEXT: '1' } })
  webs = { direct, next }
  ctx = { ...withRole(await newTenant(database), 'owner'), tenantId }
  const [workspace] = await database.sql`select slug from tenants where id = ${tenantId}`
  visitor = { ...(await newVisitor(ctx, 'owner')), tenant: workspace?.slug }
  silent = createServer(() => {}).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  const { post } = rawHttp(() => direct)
  const send = async (path: string, body: object) => JSON.parse((await post(path, JSON.stringify(body))).text)
  const { runId: paused } = await send('/api/workflow/start/wf_order_approval', {})
  const { id: http } = await send('/api/tools', { name: 'Slow', kind: 'http', config: { method: 'POST', url: slow() } })
  await send(`/api/tools/${http}/publish`, {})
  known = {
    agent: (await newAgent(ctx, { model: { provider: 'openai-compatible', modelId: 'm', baseUrl: model.url } })).id,
    script: await newScriptTool(ctx, 'await new Promise(() => {})'),
    http,
    paused,
  }
})
afterAll(async () => {
  await Promise.all(Object.values(webs ?? {}).map((web) => web.stop()))
  await model?.close()
  silent?.close()
  await database?.close()
})

const slow = () => `http://127.0.0.1:${(silent.address() as AddressInfo).port}/`
const whole = (body: string) => `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`
const cut = (type: string) => `content-type: ${type}\r\ncontent-length: 1000\r\n\r\n{"message":`
const page = () => `cookie: ${visitor.cookie}\r\nsec-fetch-site: same-origin\r\n`
const at = (path: string) => `/api/trpc/${path}${path.includes('?') ? '&' : '?'}tenant=${visitor.tenant}`

const LEAVES: Record<string, () => string> = {
  'within a body': () => `POST /api/workflow/start/wf_hello HTTP/1.1\r\n${cut('application/json')}`,
  'within a form': () => `POST /api/workflow/start/wf_hello HTTP/1.1\r\n${cut('multipart/form-data; boundary=x')}`,
  'within a chunk': () =>
    `POST /api/agents HTTP/1.1\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\nff\r\n{"a`,
  'while a run is waited for': () =>
    `POST /api/workflow/start/wf_order_approval HTTP/1.1\r\nprefer: wait=30\r\n${whole('{}')}`,
  'while a status is read': () => `GET /api/workflow/status/${known.paused} HTTP/1.1\r\n\r\n`,
  'within the events of a run': () => `GET /api/workflow/events/${known.paused} HTTP/1.1\r\n\r\n`,
  'within an export': () => `GET /api/workflow/runs/export HTTP/1.1\r\n\r\n`,
  'within the document': () => `GET /api/openapi.json HTTP/1.1\r\n\r\n`,
  'while a script runs': () => `POST /api/tools/${known.script}/invoke HTTP/1.1\r\n${whole('{}')}`,
  'while a tool calls': () => `POST /api/tools/${known.http}/invoke HTTP/1.1\r\n${whole('{}')}`,
  'while the tools of a server are listed': () =>
    `POST /api/tools/mcp/list HTTP/1.1\r\n${whole(JSON.stringify({ url: slow() }))}`,
  'while a page lists the tools of a server': () =>
    `POST ${at('tools.listRemote')} HTTP/1.1\r\n${page()}${whole(JSON.stringify({ url: slow() }))}`,
  'while an agent is invoked': () => `POST /api/agents/${known.agent}/invoke HTTP/1.1\r\n${whole('{"message":"x"}')}`,
  'while an agent answers as JSON': () =>
    `POST /api/chat HTTP/1.1\r\naccept: application/json\r\n${whole(`{"agentId":"${known.agent}","message":"x"}`)}`,
  'while an agent answers': () =>
    `POST /api/chat HTTP/1.1\r\naccept: text/event-stream\r\n${whole(`{"agentId":"${known.agent}","message":"x"}`)}`,
  'within a call of MCP': () =>
    `POST /api/mcp HTTP/1.1\r\naccept: application/json, text/event-stream\r\n${cut('application/json')}`,
  'while a tool of MCP runs': () =>
    `POST /api/mcp HTTP/1.1\r\naccept: application/json, text/event-stream\r\n${whole(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: toolName('tool', known.http, 'Slow'), arguments: {} } }))}`,
  'within a call of a page': () => `POST ${at('workflows.list')} HTTP/1.1\r\n${page()}${cut('application/json')}`,
  'while a page asks an agent': () =>
    `POST ${at('reference.send')} HTTP/1.1\r\n${page()}${whole(JSON.stringify({ method: 'POST', path: `/api/agents/${known.agent}/invoke`, body: '{"message":"x"}' }))}`,
  'while a page tries a tool': () =>
    `POST ${at('tools.invoke')} HTTP/1.1\r\n${page()}${whole(JSON.stringify({ toolId: known.script, body: {} }))}`,
  'within the changes of a run on a page': () =>
    `GET ${at(`runs.changes?input=${encodeURIComponent(JSON.stringify({ runId: known.paused }))}`)} HTTP/1.1\r\naccept: text/event-stream\r\n${page()}\r\n`,
  'within the counts of a page': () =>
    `GET ${at('live.changes?input=%7B%7D')} HTTP/1.1\r\naccept: text/event-stream\r\n${page()}\r\n`,
  'within a page': () => `GET /sign-in HTTP/1.1\r\n\r\n`,
  'while signing in': () =>
    `POST /api/auth/callback/credentials HTTP/1.1\r\n${cut('application/x-www-form-urlencoded')}`,
}

describe.each(['direct', 'next'] as const)('callers who leave (%s)', (way) => {
  test.each([0, 30, 1_000])('after %s ms are no error, wherever they were', async (ms) => {
    const web = webs[way]
    const before = web.logs().length
    const { hostname, port } = new URL(web.url)
    const leave = async (request: string) => {
      const socket = connect(Number(port), hostname)
      let answered = ''
      socket.setEncoding('latin1').on('data', (text) => {
        answered += text
      })
      socket.on('error', () => {})
      await once(socket, 'connect')
      socket.write(request.replace('\r\n', `\r\nhost: ${hostname}:${port}\r\nx-api-key: ${web.apiKey}\r\n`))
      await sleep(ms)
      socket.resetAndDestroy()
      return answered.slice(0, 12)
    }
    const answers = await Promise.all(Object.entries(LEAVES).map(async ([name, of]) => [name, await leave(of())]))
    // A refused request never reached the named place.
    expect(answers.filter(([, status]) => status !== '' && !status?.startsWith('HTTP/1.1 20'))).toEqual([])
    await sleep(1_000)
    expect(web.logs().slice(before)).toBe('')
  })
})

test.each(['POST', 'PUT', 'PATCH', 'DELETE'])('a page takes no %s', async (method) => {
  const response = await fetch(`${webs.direct.url}/sign-in`, { method, body: 'x' })
  expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS'])
})
