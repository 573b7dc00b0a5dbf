import type { ServerResponse } from 'node:http'
import { eq } from 'drizzle-orm'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { vaultSecrets } from '@/db/schema/vault'
import type { ServiceContext } from '@/server/context'
import { seal } from '@/server/crypto'
import { StepFailure, TransientError } from '@/server/errors'
import { callTool } from '@/server/steps/call-tool'
import { retryAfterMs } from '@/server/tools/kinds/http'
import { createTool } from '@/server/tools/lifecycle'
import { vaultPlace } from '@/server/vault/schema'
import { setVaultSecret } from '@/server/vault/set'
import { type Outside, type Seen, startOutside } from '../net/outside'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { quickest } from '../support/patience'
import { newTenant } from '../support/tenant'
import { make } from './support'

vi.hoisted(() => {
  process.env.ENCRYPTION_KEY = 'ab'.repeat(32)
  process.env.ALLOW_PRIVATE_HOSTS = '127.0.0.1'
})

type Respond = (seen: Seen, response: ServerResponse) => void
const json: Respond = (_seen, response) =>
  void response.writeHead(200, { 'content-type': 'application/json' }).end('{"ok":true}')

let database: FreshDatabase
let ctx: ServiceContext
let outside: Outside
let respond: Respond = json
beforeAll(async () => {
  database = await freshDatabase()
  ctx = { ...(await newTenant(database)), trusted: { user: { id: 'u/1' } } }
  outside = await startOutside((seen, response) => respond(seen, response))
  await setVaultSecret(ctx, { name: 'TOKEN', value: 'tok-1234567890' })
})
afterAll(async () => {
  await outside.stop()
  await database.close()
})
afterEach(() => {
  respond = json
  outside.seen.length = 0
})
const http = (config: object, more: object = {}) =>
  make(ctx, { kind: 'http', config: { url: `${outside.url}/`, ...config }, ...more })

describe('the request', () => {
  test('is filled from args, dataContext, the verified context and secrets', async () => {
    const tool = await http({
      method: 'POST',
      url: `${outside.url}/users/\${context.user.id}/orders?fixed=1`,
      headers: { Authorization: 'Bearer ${secrets.TOKEN}', 'X-Trace': 'a-${args.trace}' },
      query: { q: '${args.q}', list: '${args.list}', none: null, n: 5 },
      body: { id: '${args.id}', note: 'for ${dataContext.name}', deep: [{ all: '${args.list}' }] },
    })
    const args = { trace: 7, q: 'a&b=c d#/ü', list: ['x', 'y z'], id: 42 }
    expect(await tool.call(args, { name: 'Ada' })).toEqual({ success: true, data: { ok: true } })
    const [seen] = outside.seen
    expect(seen?.method).toBe('POST')
    const url = new URL(seen?.url ?? '', outside.url)
    expect(url.pathname).toBe('/users/u%2F1/orders')
    expect([...url.searchParams].sort()).toEqual([
      ['fixed', '1'],
      ['list', 'x'],
      ['list', 'y z'],
      ['n', '5'],
      ['q', 'a&b=c d#/ü'],
    ])
    expect(seen?.headers).toMatchObject({
      authorization: 'Bearer tok-1234567890',
      'x-trace': 'a-7',
      'content-type': 'application/json',
    })
    expect(JSON.parse(seen?.body ?? '')).toEqual({ id: 42, note: 'for Ada', deep: [{ all: ['x', 'y z'] }] })
  })

  test.each(['\t', '\n', '\r'])(
    'is refused when the URL has %j, which a parser drops after the host',
    async (space) => {
      const url = `https://api.example.com${space}${'${args.x}'}/`
      await expect(http({ url })).rejects.toMatchObject({
        code: 'INVALID_INPUT',
        details: [{ message: 'must not contain a tab or a line break' }],
      })
    },
  )

  test('${_} is all arguments, and no secret', async () => {
    const tool = await http({ method: 'POST', body: '${_}', headers: { 'x-a': '${_.text}', 'x-b': '${_["b c"][0]}' } })
    await tool.call({ text: 'x', 'b c': ['y'] }, { name: 'Ada' })
    expect(JSON.parse(outside.seen[0]?.body ?? '')).toEqual({ text: 'x', 'b c': ['y'] })
    expect(outside.seen[0]?.headers).toMatchObject({ 'x-a': 'x', 'x-b': 'y' })
    await expect(http({ headers: { 'x-a': '${secrets["TOKEN"]}' } })).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  })

  test('treats a caller’s text as a value, never as a template', async () => {
    const tool = await http({ method: 'POST', body: { text: '${args.text}', in: 'a ${args.text} b' } })
    await tool.call({ text: '${secrets.TOKEN}' })
    expect(JSON.parse(outside.seen[0]?.body ?? '')).toEqual({
      text: '${secrets.TOKEN}',
      in: 'a ${secrets.TOKEN} b',
    })
  })

  test.each(['../admin', 'a/../../b', '?x=1', '#f', '@evil.example.com', '\\..\\', '%2e%2e', '//evil'])(
    'a value in the path stays in its segment: %s',
    async (value) => {
      const tool = await http({ url: `${outside.url}/users/\${args.id}/x` })
      await tool.call({ id: value })
      expect(outside.seen[0]?.url).toBe(`/users/${encodeURIComponent(value)}/x`)
    },
  )

  test.each(['.', '..'])('a value that is %s cannot climb', async (value) => {
    const tool = await http({ url: `${outside.url}/users/\${args.id}/x` })
    expect(await tool.call({ id: value })).toMatchObject({ success: false, error: { code: 'EXECUTION_ERROR' } })
    const two = await http({ url: `${outside.url}/users/\${args.id}\${args.id}` })
    expect(await two.call({ id: '.' })).toMatchObject({ success: false, error: { code: 'EXECUTION_ERROR' } })
    expect(outside.seen).toHaveLength(0)
  })

  test.each(['a\r\nx-evil: 1', 'a\nb', 'a\u0001', '日本'])('a header does not carry %j', async (value) => {
    const tool = await http({ headers: { 'x-mine': 'v ${args.v}' } })
    expect(await tool.call({ v: value })).toMatchObject({ success: false, error: { code: 'EXECUTION_ERROR' } })
    expect(outside.seen).toHaveLength(0)
  })

  test('sends text and forms as such', async () => {
    const text = await http({ method: 'PUT', bodyType: 'text', body: 'hello ${args.x}' })
    await text.call({ x: 'you' })
    const form = await http({ method: 'POST', bodyType: 'form', body: { a: '${args.a}', b: ['1', '2'], c: null } })
    await form.call({ a: 'x&y' })
    expect(outside.seen[0]).toMatchObject({
      body: 'hello you',
      headers: { 'content-type': 'text/plain; charset=utf-8' },
    })
    expect(outside.seen[1]).toMatchObject({ body: 'a=x%26y&b=1&b=2' })
  })

  test('fails before anything is sent if a value is missing', async () => {
    const tool = await http({ query: { q: '${args.q}' } })
    expect(await tool.call()).toEqual({
      success: false,
      error: { message: '${args.q} has no value', details: [], code: 'EXECUTION_ERROR' },
    })
    const optional = await http({ query: { q: '${args.q ?? null}' } })
    await optional.call()
    expect(outside.seen.map(({ url }) => url)).toEqual(['/'])
  })

  test('does not fill the memory when a value is used a thousand times', async () => {
    const tool = await http({ method: 'POST', body: Array.from({ length: 5_000 }, () => '${args.big}') })
    const took = await quickest(5_000, async () => {
      expect(await tool.call({ big: 'x'.repeat(500_000) })).toMatchObject({ error: { code: 'EXECUTION_ERROR' } })
    })
    expect(took).toBeLessThan(5_000)
  })

  test('may have a URL entirely from the caller, which is guarded', async () => {
    const tool = await http({ url: '${args.url}' })
    expect(await tool.call({ url: `${outside.url}/page` })).toMatchObject({ success: true })
    for (const url of ['http://127.0.0.2/', 'http://169.254.169.254/', 'file:///etc/passwd', 'http://[::1]/', 'x'])
      expect(await tool.call({ url }), url).toMatchObject({ success: false, error: { code: 'BLOCKED_HOST' } })
    expect(await tool.call({ url: 7 })).toMatchObject({ error: { code: 'EXECUTION_ERROR' } })
    expect(outside.seen).toHaveLength(1)
  })
})

describe('the answer', () => {
  const body =
    (type: string, text: string): Respond =>
    (_seen, response) =>
      void response.writeHead(200, { 'content-type': type, 'x-a': 'b', 'set-cookie': 's=1' }).end(text)

  test('is JSON, text, everything, or a part', async () => {
    respond = body('application/json', '{"items":[{"id":7}],"n":null}')
    expect(await (await http({})).call()).toEqual({ success: true, data: { items: [{ id: 7 }], n: null } })
    expect(await (await http({ path: 'items[0].id' })).call()).toEqual({ success: true, data: 7 })
    expect(await (await http({ path: 'n' })).call()).toEqual({ success: true, data: null })
    expect(await (await http({ result: 'text' })).call()).toMatchObject({ data: expect.stringContaining('{"items"') })
    const full = await (await http({ result: 'full', path: 'items' })).call()
    expect(full).toMatchObject({ data: { status: 200, headers: { 'x-a': 'b' }, body: [{ id: 7 }] } })
    expect(JSON.stringify(full)).not.toContain('cookie')
    expect(await (await http({ path: 'items[1]' })).call()).toMatchObject({ error: { code: 'OUTPUT_INVALID' } })
    respond = body('text/html', '<p>')
    expect(await (await http({ result: 'full' })).call()).toMatchObject({ data: { body: '<p>' } })
    expect(await (await http({})).call()).toMatchObject({ error: { code: 'OUTPUT_INVALID' } })
    respond = (_seen, response) => void response.writeHead(204).end()
    expect(await (await http({})).call()).toEqual({ success: true, data: null })
  })

  test('that is nested too deeply is rejected', async () => {
    respond = body('application/json', `${'['.repeat(400_000)}${']'.repeat(400_000)}`)
    expect(await (await http({})).call()).toMatchObject({ error: { code: 'OUTPUT_INVALID' } })
  })

  test('with any status but 2xx is HTTP_ERROR with the server’s message', async () => {
    respond = (_seen, response) => void response.writeHead(422).end('{"error":"no such thing"}')
    expect(await (await http({})).call()).toEqual({
      success: false,
      error: {
        code: 'HTTP_ERROR',
        message: 'The server answered 422 Unprocessable Entity.',
        details: ['status: 422', '{"error":"no such thing"}'],
      },
    })
  })

  test('has secrets without the blanks around them, and names the one that no header can have', async () => {
    await setVaultSecret(ctx, { name: 'PASTED', value: 'replaced at once' })
    const sealed = seal(' a-long-secret-value-123\n', vaultPlace(ctx.tenantId, 'PASTED'))
    await database.db.update(vaultSecrets).set({ sealed }).where(eq(vaultSecrets.name, 'PASTED'))
    await setVaultSecret(ctx, { name: 'PEM', value: '-----BEGIN-----\nabc\n-----END-----' })
    const headers = (secret: string) => ({ headers: { authorization: `Bearer \${secrets.${secret}}` } })
    expect(await (await http(headers('PASTED'))).call()).toMatchObject({ success: true })
    expect(outside.seen[0]?.headers.authorization).toBe('Bearer a-long-secret-value-123')
    const why = 'it contains a line break or a character outside Latin-1'
    expect(await (await http(headers('PEM'))).call()).toMatchObject({
      error: { message: `The header authorization cannot have this value: ${why}. It is made of \${secrets.PEM}.` },
    })
  })

  test('that does not arrive: TIMEOUT, CONNECTION_ERROR, BLOCKED_HOST, SECRET_MISSING', async () => {
    respond = () => {}
    expect(await (await http({ timeoutMs: 100 })).call()).toMatchObject({ error: { code: 'TIMEOUT' } })
    respond = (_seen, response) => void response.destroy()
    expect(await (await http({})).call()).toMatchObject({ error: { code: 'CONNECTION_ERROR' } })
    const anywhere = await http({ url: '${args.url}' })
    expect(await anywhere.call({ url: 'http://10.0.0.1/' })).toMatchObject({ error: { code: 'BLOCKED_HOST' } })
    expect(await (await http({ headers: { a: '${secrets.NOPE}' } })).call()).toEqual({
      success: false,
      error: { message: 'The vault has no secret NOPE.', details: [], code: 'SECRET_MISSING' },
    })
  })

  test('that echoes a secret, in a result or an error, is masked', async () => {
    const config = { headers: { authorization: 'Bearer ${secrets.TOKEN}' }, query: { k: '${secrets.TOKEN}' } }
    respond = (seen, response) =>
      void response.end(JSON.stringify({ ...seen, basic: Buffer.from('u:tok-1234567890').toString('base64') }))
    const answer = await (await http(config)).call()
    expect(answer).toMatchObject({ success: true, data: { url: '/?k=***', headers: { authorization: 'Bearer ***' } } })
    expect(JSON.stringify(answer)).not.toContain('1234567890')
    // The secret spans the position where long messages are cut.
    respond = (seen, response) =>
      void response.writeHead(401).end(`${'x'.repeat(490)}${seen.headers.authorization}${'y'.repeat(400)}`)
    const failed = JSON.stringify(await (await http(config)).call())
    expect(failed).toContain('***')
    expect(failed).not.toMatch(/tok-/)
  })
})

describe('as a step', () => {
  if (callTool.mode !== 'effect') throw new Error('call-tool must do work')
  const { run, config } = callTool
  const step = async (toolId: string, args = {}) =>
    run({
      config: config.parse({ toolId, args }),
      ctx,
      data: {},
      signal: new AbortController().signal,
      idempotencyKey: 'run:step:1',
    }).catch((err: unknown) => err)

  test.each([408, 425, 429, 500, 502, 503])('%i is temporary and retried', async (status) => {
    respond = (_seen, response) => void response.writeHead(status, { 'retry-after': '7' }).end()
    const failed = await step((await http({})).id)
    expect(failed).toBeInstanceOf(TransientError)
    expect(failed).toMatchObject({ retryAfterMs: 7_000 })
  })

  test.each([400, 401, 403, 404, 409, 422])('%i is permanent', async (status) => {
    respond = (_seen, response) => void response.writeHead(status).end()
    expect(await step((await http({})).id)).toBeInstanceOf(StepFailure)
  })

  test('connection failures and time-outs are temporary; a blocked host and a wrong result are permanent', async () => {
    respond = (_seen, response) => void response.destroy()
    expect(await step((await http({})).id)).toBeInstanceOf(TransientError)
    respond = () => {}
    expect(await step((await http({ timeoutMs: 50 })).id)).toBeInstanceOf(TransientError)
    const { id } = await http({ url: '${args.url}' })
    expect(await step(id, { url: 'http://10.0.0.1/' })).toMatchObject({ code: 'BLOCKED_HOST' })
    respond = (_seen, response) => void response.end('no json')
    expect(await step((await http({})).id)).toMatchObject({ code: 'OUTPUT_INVALID' })
  })

  test('every attempt of a modifying request carries the same idempotency key', async () => {
    const post = await http({ method: 'POST' })
    await step(post.id)
    await step(post.id)
    await step((await http({})).id)
    expect(outside.seen.map(({ headers }) => headers['idempotency-key'])).toEqual([
      'run:step:1',
      'run:step:1',
      undefined,
    ])
  })

  test('wrong arguments fail permanently, and history says which', async () => {
    const tool = await http({}, { inputSchema: { type: 'object', required: ['a'] } })
    const failed = await step(tool.id)
    expect(failed).toBeInstanceOf(StepFailure)
    expect(failed).toMatchObject({ code: 'INVALID_INPUT', message: 'Invalid input: args.a: is required' })
  })

  test('Retry-After is seconds or a date', () => {
    expect(retryAfterMs('3')).toBe(3_000)
    expect(retryAfterMs(new Date(10_000).toUTCString(), 4_000)).toBe(6_000)
    expect(retryAfterMs(new Date(10_000).toUTCString(), 40_000)).toBe(0)
    expect(retryAfterMs('soon')).toBeUndefined()
    expect(retryAfterMs(null)).toBeUndefined()
  })
})

describe('saved configurations', () => {
  test.each<[string, object]>([
    ['no URL', { url: undefined }],
    ['another protocol', { url: 'ftp://a.example.com/' }],
    ['a relative URL', { url: '/x' }],
    ['credentials in the URL', { url: 'https://u:p@a.example.com/' }],
    ['a value in the host', { url: 'https://${args.host}/' }],
    ['a value in the middle of the host', { url: 'https://a.${args.host}.example.com/' }],
    ['a value straight after the host', { url: 'https://a.example.com${args.rest}' }],
    ['a value as the port', { url: 'https://a.example.com:${args.port}/' }],
    ['a value before the rest', { url: '${args.base}/path' }],
    ['a secret as the URL', { url: '${secrets.URL}' }],
    ["the caller's URL and a secret", { url: '${args.url}', headers: { a: '${secrets.TOKEN}' } }],
    ['a template that is none', { url: 'https://a.example.com/${' }],
    ['an unknown root', { headers: { a: '${env.HOME}' } }],
    ['a reserved name', { headers: { a: '${args.__proto__}' } }],
    ['a path into a secret', { headers: { a: '${secrets.A.b}' } }],
    ['a default for a secret', { headers: { a: '${secrets.A ?? "x"}' } }],
    ['all secrets', { headers: { a: '${secrets}' } }],
    ['a header of the connection', { headers: { Host: 'x' } }],
    ['a header twice', { headers: { a: 'x', A: 'y' } }],
    ['a header that is none', { headers: { 'a b': 'x' } }],
    ['a body with GET', { body: {} }],
    ['an unknown setting', { proxy: 'http://x' }],
    ['a path that is none', { path: 'a..b' }],
    ['a path that leaves its place', { path: 'a} ${b' }],
    ['too long a time', { timeoutMs: 60_001 }],
    ['a private address', { url: 'http://10.0.0.1/orders/${args.id}' }],
    ['a name of this machine', { url: 'http://localhost:9/' }],
    ['a name that no name service knows', { url: 'https://a..b/' }],
    ['the port 0', { url: 'https://a.example.com:0/' }],
  ])('%s is rejected', async (_, config) => {
    await expect(
      createTool(ctx, { name: 'T', kind: 'http', config: { url: 'https://a.example.com/', ...config } }),
    ).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  })
})
