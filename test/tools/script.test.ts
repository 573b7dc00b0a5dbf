import type { ServerResponse } from 'node:http'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import type { ServiceContext } from '@/server/context'
import { TransientError } from '@/server/errors'
import { callTool } from '@/server/steps/call-tool'
import { invokeTool } from '@/server/tools/invoke'
import { createTool } from '@/server/tools/lifecycle'
import { stopSandbox } from '@/server/tools/sandbox/run-script'
import { type Outside, type Seen, startOutside } from '../net/outside'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { newTenant } from '../support/tenant'
import { make } from './support'

vi.hoisted(() => {
  process.env.ENCRYPTION_KEY = 'ab'.repeat(32)
  process.env.ALLOW_PRIVATE_HOSTS = '127.0.0.1'
})

type Respond = (seen: Seen, response: ServerResponse) => void
const json: Respond = (_seen, response) => void response.end('{"ok":true}')

let database: FreshDatabase
let ctx: ServiceContext
let outside: Outside
let respond: Respond = json
beforeAll(async () => {
  database = await freshDatabase()
  ctx = await newTenant(database)
  outside = await startOutside((seen, response) => respond(seen, response))
})
afterAll(async () => {
  await stopSandbox()
  await outside.stop()
  await database.close()
})
afterEach(() => {
  respond = json
  outside.seen.length = 0
})

const script = (code: string, config: object = {}, more: object = {}) =>
  make(ctx, { kind: 'script', config: { code, ...config }, ...more })
const ask = 'return (await fetch(args.url)).json()'

describe('a script tool with network access', () => {
  test('calls only the hosts in its configuration, even if others are permitted globally', async () => {
    const tool = await script(ask, { allowedHosts: [`127.0.0.1:${outside.port}`] })
    expect(await tool.call({ url: outside.url })).toEqual({ success: true, data: { ok: true } })
    for (const url of [
      'http://127.0.0.1:1/',
      'http://localhost/',
      'http://169.254.169.254/',
      'file:///etc/passwd',
      'x',
    ])
      expect(await tool.call({ url }), url).toMatchObject({ success: false, error: { code: 'BLOCKED_HOST' } })
    expect(outside.seen).toHaveLength(1)
  })

  test('calls private hosts only where they are permitted, regardless of its list', async () => {
    const tool = await script(ask, { allowedHosts: ['10.0.0.1', '[::1]', '127.0.0.2', 'localhost'] })
    for (const url of ['http://10.0.0.1/', 'http://[::1]/', 'http://127.0.0.2/'])
      expect(await tool.call({ url }), url).toMatchObject({ success: false, error: { code: 'BLOCKED_HOST' } })
  })

  test('has no fetch without hosts', async () => {
    for (const config of [{}, { allowedHosts: [] }])
      expect(await (await script('return typeof fetch', config)).call()).toEqual({ success: true, data: 'undefined' })
  })

  test('cannot read secrets: a reference is ordinary text', async () => {
    const code = "return (await fetch(args.url, { headers: { a: '${secrets.TOKEN}' } })).json()"
    await (await script(code, { allowedHosts: ['127.0.0.1'] })).call({ url: outside.url })
    expect(outside.seen[0]?.headers.a).toBe('${secrets.TOKEN}')
  })

  test('in a step is retried when its call failed temporarily', async () => {
    if (callTool.mode !== 'effect') throw new Error('call-tool must do work')
    const { run, config } = callTool
    const step = async (code: string) => {
      const { id } = await script(code, { allowedHosts: [`127.0.0.1:${outside.port}`] })
      const call = { config: config.parse({ toolId: id, args: { url: outside.url } }), ctx, data: {} }
      return run({ ...call, signal: new AbortController().signal, idempotencyKey: 'k' }).catch((err: unknown) => err)
    }
    respond = (_seen, response) => void response.destroy()
    expect(await step(ask)).toBeInstanceOf(TransientError)
    expect(await step("await fetch('http://10.0.0.1/')")).toMatchObject({ code: 'BLOCKED_HOST' })
    expect(await step("throw Object.assign(new Error('x'), { code: 'TIMEOUT', transient: true })")).toMatchObject({
      code: 'EXECUTION_ERROR',
    })
  })

  test.each([
    ['no list', 'api.example.com'],
    ['a URL', ['https://api.example.com']],
    ['a range', ['10.0.0.0/8']],
    ['a wildcard', ['*.example.com']],
    ['two in one', ['a.example.com,b.example.com']],
    ['a port that is none', ['a.example.com:0']],
    ['nothing', ['']],
    ['51 hosts', Array.from({ length: 51 }, (_, i) => `h${i}.example.com`)],
  ])('cannot be saved with %s', async (_, allowedHosts) => {
    const tool = { name: 'T', kind: 'script', config: { code: '', allowedHosts } }
    await expect(createTool(ctx, tool)).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  })
})

test('includes its console output in the answer, even when it fails', async () => {
  const call = async (code: string, more: object = {}) => {
    const { id } = await script(code, {}, more)
    return (await invokeTool(ctx, { toolId: id, body: {} }, new AbortController().signal)).debug
  }
  const logs = [
    { level: 'log', text: 'a 1' },
    { level: 'warn', text: '{"b":2}' },
  ]
  const write = "console.log('a', 1); console.warn({ b: 2 });"
  expect(await call(`${write} return 1`)).toEqual({ executionTime: expect.any(Number), logs })
  expect(await call(`${write} throw new Error('x')`)).toMatchObject({ logs })
  expect(await call(`${write} return 1`, { outputSchema: { type: 'string' } })).toMatchObject({ logs })
  expect(await call('return 1')).toEqual({ executionTime: expect.any(Number) })
})
