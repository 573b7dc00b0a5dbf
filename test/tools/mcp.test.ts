import { setTimeout as sleep } from 'node:timers/promises'
import { queryObjects } from 'node:v8'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { ServiceContext } from '@/server/context'
import { callTool } from '@/server/steps/call-tool'
import { RemoteTools } from '@/server/tools/answers'
import { invokeTool } from '@/server/tools/invoke'
import { createTool } from '@/server/tools/lifecycle'
import { listRemoteTools } from '@/server/tools/list-remote'
import { setVaultSecret } from '@/server/vault/set'
import { type Outside, startOutside } from '../net/outside'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { type McpServer, startMcpServer } from '../support/mcp-server'
import { newTenant, withRole } from '../support/tenant'
import { make } from './support'

vi.hoisted(() => {
  process.env.ENCRYPTION_KEY = 'ab'.repeat(32)
  process.env.ALLOW_PRIVATE_HOSTS = '127.0.0.1'
})

let database: FreshDatabase
let ctx: ServiceContext
let server: McpServer
let url: string
beforeAll(async () => {
  database = await freshDatabase()
  ctx = await newTenant(database)
  await setVaultSecret(ctx, { name: 'MCP_TOKEN', value: 'mcp-secret-4711' })
  server = await startMcpServer()
  url = server.url
})
afterAll(async () => {
  await server.stop()
  await database.close()
})

const tool = (config: object) => make(ctx, { kind: 'mcp', config: { url, ...config } })
const list = (body: object, who = ctx) => listRemoteTools(who, body, new AbortController().signal)

describe('a real MCP server', () => {
  test('can be listed', async () => {
    const answer = await list({ url })
    expect(answer).toMatchObject({ success: true })
    expect(RemoteTools.parse(answer)).toEqual(answer)
    const { tools } = (answer as unknown as { data: { tools: { name: string; inputSchema: object }[] } }).data
    expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(['echo', 'get-sum']))
    expect(tools.find(({ name }) => name === 'get-sum')?.inputSchema).toMatchObject({
      type: 'object',
      properties: { a: { type: 'number' } },
    })
  })

  test('can be called: text, structured content, and the full answer', async () => {
    expect(await (await tool({ toolName: 'echo' })).call({ message: 'hällo' })).toEqual({
      success: true,
      data: 'Echo: hällo',
    })
    expect(await (await tool({ toolName: 'get-sum' })).call({ a: 20, b: 22 })).toMatchObject({
      success: true,
      data: expect.stringContaining('42'),
    })
    const weather = await tool({ toolName: 'get-structured-content' })
    expect(await weather.call({ location: 'Chicago' })).toMatchObject({
      success: true,
      data: { temperature: expect.any(Number), conditions: expect.any(String) },
    })
    const full = await tool({ toolName: 'echo', result: 'full' })
    expect(await full.call({ message: 'x' })).toMatchObject({ data: { content: [{ type: 'text', text: 'Echo: x' }] } })
  })

  test('can be called by a step of a run', async () => {
    if (callTool.mode !== 'effect') throw new Error('call-tool must do work')
    const { id } = await tool({ toolName: 'echo' })
    const config = callTool.config.parse({ toolId: id, args: { message: 'from a run' } })
    const call = { ctx, data: {}, signal: new AbortController().signal, idempotencyKey: 'k' }
    expect(await callTool.run({ config, ...call })).toEqual({ output: 'Echo: from a run' })
  })

  test('rejects: wrong arguments and unknown tools are failures of the tool', async () => {
    for (const [toolName, args] of [
      ['get-sum', { a: 'no number' }],
      ['no-such-tool', {}],
    ] as const) {
      expect(await (await tool({ toolName })).call(args), toolName).toMatchObject({
        success: false,
        error: { code: 'EXECUTION_ERROR' },
      })
    }
  })

  test('that takes too long is a TIMEOUT, on time', async () => {
    const slow = await tool({ toolName: 'trigger-long-running-operation', timeoutMs: 1_500 })
    const started = Date.now()
    expect(await slow.call({ duration: 30, steps: 3 })).toMatchObject({ error: { code: 'TIMEOUT' } })
    expect(Date.now() - started).toBeLessThan(25_000)
  })

  test('leaves no abort listener of a call behind on a long-lived caller', async () => {
    const { id } = await tool({ toolName: 'echo' })
    const caller = new AbortController()
    const signals = async (calls: number) => {
      for (let i = 0; i < calls; i++)
        await invokeTool(ctx, { toolId: id, body: { args: { message: 'x' } } }, caller.signal)
      return queryObjects(AbortSignal, { format: 'count' }) as unknown as number
    }
    const before = await signals(3)
    expect(await signals(20)).toBeLessThan(before + 15)
    // Counting searches all memory of a process that many files share.
  })

  test('many simultaneous calls do not mix their answers', async () => {
    const echo = await tool({ toolName: 'echo' })
    const answers = await Promise.all(Array.from({ length: 10 }, (_, i) => echo.call({ message: String(i) })))
    expect(answers.map((answer) => 'data' in answer && answer.data)).toEqual(
      Array.from({ length: 10 }, (_, i) => `Echo: ${i}`),
    )
  })
})

describe('other servers', () => {
  let outside: Outside
  let respond: Parameters<typeof startOutside>[0] = () => {}
  beforeAll(async () => {
    outside = await startOutside((seen, response) => respond(seen, response))
  })
  afterAll(() => outside.stop())
  const at = (config: object = {}) => tool({ url: `${outside.url}/mcp`, toolName: 'x', ...config })

  test('get the secrets of the configuration, which never come back', async () => {
    respond = (seen, response) => {
      const { id, method } = JSON.parse(seen.body || '{}') as { id?: number; method?: string }
      const said = JSON.stringify(seen.headers.authorization)
      const result =
        method === 'initialize'
          ? { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'x', version: '1' } }
          : { content: [{ type: 'text', text: said }], isError: seen.url.endsWith('fail') }
      if (id === undefined) response.writeHead(202).end()
      else
        response
          .writeHead(200, { 'content-type': 'application/json' })
          .end(JSON.stringify({ jsonrpc: '2.0', id, result }))
    }
    const headers = { authorization: 'Bearer ${secrets.MCP_TOKEN}' }
    expect(await (await at({ headers })).call()).toEqual({ success: true, data: '"Bearer ***"' })
    expect(outside.seen.at(-1)?.headers.authorization).toBe('Bearer mcp-secret-4711')
    const failing = await at({ headers, url: `${outside.url}/fail` })
    expect(await failing.call()).toEqual({
      success: false,
      error: { code: 'EXECUTION_ERROR', message: '"Bearer ***"', details: [] },
    })
    expect(await (await at({ headers: { a: '${secrets.NOPE}' } })).call()).toMatchObject({
      error: { code: 'SECRET_MISSING' },
    })
  })

  test('that fail: status, connection, nonsense, redirects into a private network', async () => {
    respond = (_seen, response) => void response.writeHead(503, { 'retry-after': '1' }).end('busy mcp-secret-4711')
    const failed = await (await at({ headers: { a: '${secrets.MCP_TOKEN}' } })).call()
    expect(failed).toMatchObject({ error: { code: 'HTTP_ERROR', details: ['status: 503', 'busy ***'] } })
    expect(Object.keys(failed).sort()).toEqual(['error', 'success'])
    respond = (_seen, response) => void response.destroy()
    expect(await (await at()).call()).toMatchObject({ error: { code: 'CONNECTION_ERROR' } })
    respond = (_seen, response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<p>')
    expect(await (await at()).call()).toMatchObject({ success: false, error: { code: 'EXECUTION_ERROR' } })
    respond = (_seen, response) => void response.writeHead(307, { location: 'http://127.0.0.2:1/' }).end()
    expect(await (await at()).call()).toMatchObject({ error: { code: 'HTTP_ERROR' } })
    respond = (_seen, response) => void response.writeHead(303, { location: 'http://127.0.0.2:1/' }).end()
    expect(await (await at()).call()).toMatchObject({ error: { code: 'BLOCKED_HOST' } })
    respond = (_seen, response) =>
      void response.writeHead(200, { 'content-type': 'application/json' }).end(`"${'x'.repeat(2_000_000)}"`)
    expect(await (await at()).call()).toMatchObject({ error: { code: 'OUTPUT_INVALID' } })
    respond = () => {}
    expect(await (await at({ timeoutMs: 200 })).call()).toMatchObject({ error: { code: 'TIMEOUT' } })
  })

  test('that break off in the middle of a stream do not block the call', async () => {
    respond = (seen, response) => {
      const { id, method } = JSON.parse(seen.body || '{}') as { id?: number; method?: string }
      if (id === undefined) return void response.writeHead(202).end()
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      if (method === 'initialize') {
        const serverInfo = { name: 'x', version: '1' }
        const result = { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo }
        response.end(`data: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`)
      } else {
        response.write(': one moment\n\n')
        void sleep(50).then(() => response.destroy())
      }
    }
    expect(await (await at()).call()).toMatchObject({ error: { code: 'CONNECTION_ERROR' } })
  })

  /** Answers each call of a method; a page for each `tools/list`. */
  const speaking = (results: (method: string, params: { cursor?: string }) => object) => {
    respond = (seen, response) => {
      const { id, method = '', params = {} } = JSON.parse(seen.body || '{}')
      const serverInfo = { name: 'x', version: '1' }
      const result =
        method === 'initialize'
          ? { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo }
          : results(method, params)
      if (id === undefined) response.writeHead(202).end()
      else
        response
          .writeHead(200, { 'content-type': 'application/json' })
          .end(JSON.stringify({ jsonrpc: '2.0', id, result }))
    }
  }
  const toolsNamed = (...names: string[]) => names.map((name) => ({ name, inputSchema: { type: 'object' } }))
  const asked = () => outside.seen.filter(({ body }) => body.includes('tools/list')).length
  const namesOf = async () => {
    outside.seen.length = 0
    const answer = await list({ url: `${outside.url}/mcp` })
    if (!answer.success) return answer.error
    const { tools } = (answer as unknown as { data: { tools: { name: string }[] } }).data
    return tools.map(({ name }) => name)
  }

  test('are listed with all their pages', async () => {
    const pages: Record<string, object> = {
      first: { tools: toolsNamed('a', 'b'), nextCursor: 'second' },
      second: { tools: toolsNamed('c'), nextCursor: 'third' },
      third: { tools: toolsNamed('d') },
    }
    speaking((_method, { cursor = 'first' }) => pages[cursor] ?? {})
    expect([await namesOf(), asked()]).toEqual([['a', 'b', 'c', 'd'], 3])
  })

  test.each([
    ['one that ignores the cursor', () => ({ tools: toolsNamed('a'), nextCursor: 'again' }), ['a'], 2],
    [
      'a circle of pages',
      (_method: string, { cursor = '' }) => ({
        tools: toolsNamed(`t${cursor}`),
        nextCursor: { '': '1', '1': '2' }[cursor] ?? '1',
      }),
      ['t', 't1', 't2'],
      3,
    ],
    ['an empty cursor', () => ({ tools: toolsNamed('a'), nextCursor: '' }), ['a'], 1],
  ])('end their list: %s', async (_name, results, names, calls) => {
    speaking(results)
    expect([await namesOf(), asked()]).toEqual([names, calls])
  })

  test('that list without an end are stopped by count, by pages and by size, with a reason', async () => {
    const reason = { code: 'OUTPUT_INVALID', message: expect.stringContaining('Create the tool with its name') }
    let page = 0
    const endless = (tools: () => object[]) => speaking(() => ({ tools: tools(), nextCursor: String(++page) }))
    endless(() => toolsNamed(...Array.from({ length: 500 }, (_, n) => `${page}-${n}`)))
    expect([await namesOf(), asked()]).toEqual([expect.objectContaining(reason), 5])
    endless(() => [])
    expect([await namesOf(), asked()]).toEqual([expect.objectContaining(reason), 200])
    endless(() => [{ ...toolsNamed(`${page}`)[0], description: 'x'.repeat(900_000) }])
    expect([await namesOf(), asked()]).toEqual([expect.objectContaining(reason), 5])
  })

  test('that list slowly have the configured time for all pages together', async () => {
    let page = 0
    speaking(() => ({ tools: [], nextCursor: String(++page) }))
    const quick = respond
    respond = async (seen, response) => {
      await sleep(60)
      await quick(seen, response)
    }
    expect(await list({ url: `${outside.url}/mcp`, timeoutMs: 600 })).toMatchObject({ error: { code: 'TIMEOUT' } })
    expect(page).toBeLessThan(15)
  })

  test('that fail with a structure give it as a detail, without secrets', async () => {
    const structuredContent = { code: 'QUOTA', retryAfter: 30, hint: 'mcp-secret-4711' }
    speaking(() => ({ content: [], structuredContent, isError: true }))
    expect(await (await at({ headers: { a: '${secrets.MCP_TOKEN}' } })).call()).toEqual({
      success: false,
      error: {
        code: 'EXECUTION_ERROR',
        message: 'The tool x failed.',
        details: ['{"code":"QUOTA","retryAfter":30,"hint":"***"}'],
      },
    })
  })

  test.each(['application/json', 'text/event-stream'])('keep the digits of ids in a result as %s', async (type) => {
    const structured = '{"id":1234567890123456789,"n":7,"t":"ü 1234567890123456789"}'
    respond = async (seen, response) => {
      const { id, method } = JSON.parse(seen.body || '{}')
      if (id === undefined) return void response.writeHead(202).end()
      const opening = {
        protocolVersion: '2025-06-18',
        capabilities: { tools: {} },
        serverInfo: { name: 'x', version: '1' },
      }
      const result =
        method === 'initialize' ? JSON.stringify(opening) : `{"content":[],"structuredContent":${structured}}`
      const message = Buffer.from(`{"jsonrpc":"2.0","id":${id},"result":${result}}`)
      response.writeHead(200, { 'content-type': type })
      if (type === 'application/json') return void response.end(message)
      response.write('event: message\r\ndata: ')
      for (const half of [message.subarray(0, 90), message.subarray(90)]) {
        response.write(half)
        await new Promise((resolve) => setImmediate(resolve))
      }
      response.end('\r\n\r\n')
    }
    const data = { id: '1234567890123456789', n: 7, t: 'ü 1234567890123456789' }
    expect(await (await at()).call()).toEqual({ success: true, data })
  })

  test('that are private are not called', async () => {
    for (const blocked of ['http://10.0.0.1/mcp', 'http://127.0.0.2/mcp', 'http://[::1]/mcp']) {
      await expect(tool({ url: blocked, toolName: 'x' }), blocked).rejects.toMatchObject({
        code: 'INVALID_INPUT',
        details: [{ path: 'config.url', message: expect.stringContaining('not on the public internet') }],
      })
      expect(await list({ url: blocked })).toMatchObject({ success: false, error: { code: 'BLOCKED_HOST' } })
    }
  })

  test('can be listed by editors', async () => {
    await expect(list({ url: `${outside.url}/` }, withRole(ctx, 'operator'))).rejects.toMatchObject({
      code: 'FORBIDDEN',
    })
    await expect(list({ url: 'stdio:npx evil' })).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  })
})

test.each<[string, object]>([
  ['no tool', { toolName: undefined }],
  ['a command', { command: 'npx', args: ['x'] }],
  ['another protocol', { url: 'stdio://x' }],
  ['a template as URL', { url: 'https://${args.host}/' }],
  ['credentials in the URL', { url: 'https://u:p@a.example.com/' }],
  ['arguments in headers', { headers: { a: '${args.x}' } }],
])('%s is rejected', async (_, config) => {
  await expect(
    createTool(ctx, {
      name: 'T',
      kind: 'mcp',
      config: { url: 'https://a.example.com/mcp', toolName: 'x', ...config },
    }),
  ).rejects.toMatchObject({ code: 'INVALID_INPUT' })
})
