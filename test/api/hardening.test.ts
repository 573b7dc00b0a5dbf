import { request as httpRequest } from 'node:http'
import { connect as connectTcp } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createSigningSecret } from '@/server/secrets/create'
import { setCorsOrigins } from '@/server/tenants/cors'
import { claims, mint } from '../auth/support'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { startWeb, type Web } from '../support/service'
import { newTenant } from '../support/tenant'

// The tests write a secret that the service reads.
const ENCRYPTION_KEY = 'cd'.repeat(32)
process.env.ENCRYPTION_KEY = ENCRYPTION_KEY
process.env.LOG_LEVEL = 'silent'

const ORIGIN = 'https://app.example.com'
const MIB = 1024 * 1024

let database: FreshDatabase
let web: Web
let token: string

beforeAll(async () => {
  database = await freshDatabase()
  const env = { ENCRYPTION_KEY, JWT_AUDIENCE: 'app.example.com', RATE_LIMIT_FAILURES: '100000' }
  web = await startWeb({ databaseUrl: database.url, env })
  const ctx = { ...(await newTenant(database)), tenantId: web.tenantId }
  const { id, secret } = await createSigningSecret(ctx, { name: 'Frontend' })
  await setCorsOrigins(ctx, { origins: [ORIGIN] })
  const now = Math.floor(Date.now() / 1000)
  token = mint({ alg: 'HS256', kid: id }, claims({ iat: now, exp: now + 3600 }), secret)
})
afterAll(async () => {
  await web?.stop()
  await database?.drop()
})

interface Answer {
  status: number
  headers: Record<string, string | string[] | undefined>
  text: string
}

/** Sends what `fetch` would correct: paths as they are, repeated headers, bodies that lie about their length. */
function send(
  method: string,
  path: string,
  options: { headers?: Record<string, string | string[]>; body?: string | Buffer | Buffer[]; key?: boolean } = {},
): Promise<Answer> {
  const { hostname, port } = new URL(web.url)
  const key = options.key === false ? {} : { 'x-api-key': web.apiKey }
  return new Promise((done, fail) => {
    const outgoing = httpRequest(
      { hostname, port, method, path, headers: { ...key, ...options.headers } },
      (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.once('error', fail)
        response.once('end', () =>
          done({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text: Buffer.concat(chunks).toString('utf8'),
          }),
        )
      },
    )
    outgoing.once('error', fail)
    if (Array.isArray(options.body)) for (const chunk of options.body) outgoing.write(chunk)
    else if (options.body !== undefined) outgoing.write(options.body)
    outgoing.end()
  })
}

const JSON_TYPE = { 'content-type': 'application/json' }
const post = (path: string, body: string | Buffer, headers: Record<string, string> = JSON_TYPE) =>
  send('POST', path, { body, headers: { ...headers, 'content-length': String(Buffer.byteLength(body)) } })

/** Bytes as they are, for what no HTTP client sends. @returns the status line and all that follows */
function sendRaw(text: string): Promise<string> {
  const { hostname, port } = new URL(web.url)
  return new Promise((done, fail) => {
    const socket = connectTcp(Number(port), hostname, () => socket.write(text, 'latin1'))
    const chunks: Buffer[] = []
    socket.setTimeout(10_000, () => socket.destroy())
    socket.on('data', (chunk: Buffer) => chunks.push(chunk))
    socket.once('error', fail)
    socket.once('close', () => done(Buffer.concat(chunks).toString('utf8')))
  })
}

/** The one shape of every error, with nothing of the inside in it. */
function expectError(answer: Answer, status: number, code: string): void {
  expect(answer.status, answer.text).toBe(status)
  const body = JSON.parse(answer.text)
  expect(body).toEqual({
    success: false,
    error: { message: expect.any(String), code, details: expect.any(Array) },
    requestId: answer.headers['x-request-id'],
  })
  expect(answer.text).not.toMatch(/node_modules|\bat \w+ \(|select |insert |postgres|drizzle|\.ts:\d/i)
  expect(answer.headers).toMatchObject({
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'referrer-policy': 'no-referrer',
  })
  expect(Object.keys(answer.headers)).not.toContain('x-powered-by')
}

describe('a body', () => {
  const start = '/api/workflow/start-async/wf_hello'
  const deep = (levels: number) => `{"name":"a","x":${'['.repeat(levels)}${']'.repeat(levels)}}`
  const keys = (count: number) => `{"name":"a",${Array.from({ length: count - 1 }, (_, i) => `"k${i}":1`).join(',')}}`
  const sized = (bytes: number) => `{"name":"${'a'.repeat(bytes - 11)}"}`

  test.each<[string, string | Buffer]>([
    ['cut short', '{"name":'],
    ['with a comma too many', '{"name":"a",}'],
    ['with a comment', '{"name":"a"} // x'],
    ['with single quotes', "{'name':'a'}"],
    ['that is two', '{"name":"a"}{"name":"b"}'],
    ['that is a list', '["name"]'],
    ['that is a text', '"name"'],
    ['that is null', 'null'],
    ['that is a number', '1'],
    ['with NaN', '{"name":NaN}'],
    ['with a number beyond all bounds', '{"name":"a","n":1e400}'],
    ['with a NUL in a value', '{"name":"\\u0000"}'],
    ['with a NUL in a name', '{"name":"a","\\u0000":1}'],
    ['with a lone surrogate', '{"name":"\\ud800"}'],
    ['with a lone surrogate in a name', '{"name":"a","\\udc00":1}'],
    ['that is not UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d])],
    ['nested 65 levels deep', deep(64)],
    ['nested 100,000 levels deep', deep(100_000)],
    ['nested deeper than it is closed', `{"x":${'['.repeat(500_000)}`],
    ['with 10,001 names', keys(10_001)],
  ])('%s is refused as invalid input', async (_, body) => {
    expectError(await post(start, body), 400, 'INVALID_INPUT')
  })

  test.each([
    ['nested 64 levels deep', deep(63)],
    ['with 10,000 names', keys(10_000)],
    ['of exactly 1 MiB', sized(MIB)],
    ['with __proto__, which is dropped', '{"name":"a","__proto__":{"admin":true}}'],
  ])('%s is accepted', async (_, body) => {
    expect((await post(start, body)).status).toBe(200)
  })

  test('of 1 MiB and a byte is too large, whatever it says of its length', async () => {
    const body = sized(MIB + 1)
    expectError(await post(start, body), 413, 'PAYLOAD_TOO_LARGE')
    const chunks = [Buffer.from(body.slice(0, MIB)), Buffer.from(body.slice(MIB))]
    expectError(await send('POST', start, { body: chunks, headers: JSON_TYPE }), 413, 'PAYLOAD_TOO_LARGE')
  })

  test.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/xml',
    'application/jsonx',
    'json',
    'text/json',
  ])('of the type %s is not accepted', async (type) => {
    expectError(await post(start, '{"name":"a"}', { 'content-type': type }), 415, 'UNSUPPORTED_MEDIA_TYPE')
  })

  test('without a type is not accepted', async () => {
    expectError(await post(start, '{"name":"a"}', {}), 415, 'UNSUPPORTED_MEDIA_TYPE')
  })

  test.each(['application/json; charset=utf-8', 'APPLICATION/JSON', 'application/problem+json'])(
    'of the type %s is accepted',
    async (type) => {
      expect((await post(start, '{"name":"a"}', { 'content-type': type })).status).toBe(200)
    },
  )

  test('that ends before its announced length is no failure of the service', async () => {
    const { hostname, port } = new URL(web.url)
    await new Promise<void>((done) => {
      const socket = connectTcp(Number(port), hostname, () => {
        const head = `POST ${start} HTTP/1.1\r\nHost: a\r\nx-api-key: ${web.apiKey}\r\nContent-Type: application/json`
        socket.write(`${head}\r\nContent-Length: 1000\r\n\r\n{"name":`)
        setTimeout(() => socket.destroy(), 300)
      })
      socket.once('close', () => done())
    })
    expect((await post(start, '{"name":"a"}')).status).toBe(200)
    expect(web.logs()).not.toContain('"request failed"')
  })

  test('with a byte order mark is JSON', async () => {
    expect((await post(start, '\uFEFF{"name":"a"}')).status).toBe(200)
  })
})

describe('a caller who is not known', () => {
  test.each(['/api/workflow/start/wf_hello', '/api/workflows', '/api/tools/tool_add/invoke'])(
    'is refused before the body is read: %s',
    async (path) => {
      const { hostname, port } = new URL(web.url)
      // The body is announced and never comes: only who does not wait for it can answer.
      const answer = await sendRaw(
        `POST ${path} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nContent-Type: application/json\r\nContent-Length: ${MIB}\r\nConnection: close\r\n\r\n{"name":`,
      )
      expect(answer).toMatch(/^HTTP\/1\.1 401 /)
      const garbage = Buffer.alloc(MIB, 0xff)
      expectError(await send('POST', path, { key: false, body: garbage }), 401, 'UNAUTHORIZED')
    },
  )

  test.each([
    ['no key', {}],
    ['an empty key', { 'x-api-key': '' }],
    ['a wrong key', { 'x-api-key': 'sk_wrongwrongwrong' }],
    ['the key twice', { 'x-api-key': ['sk_wrongwrong', 'sk_wrongwrong'] }],
    ['a key of 6 KB', { 'x-api-key': `sk_${'a'.repeat(6000)}` }],
    ['a broken token', { authorization: 'Bearer a.b.c' }],
    ['a token of 9 KB', { authorization: `Bearer ${'a'.repeat(9000)}` }],
    ['a token and a wrong key', { 'x-api-key': 'sk_wrongwrong' }],
  ])('gets the same answer with %s', async (name, headers: Record<string, string | string[]>) => {
    const more = name.startsWith('a token and') ? { authorization: `Bearer ${token}` } : {}
    const answer = await send('GET', '/api/workflows', { key: false, headers: { ...headers, ...more } })
    expectError(answer, 401, 'UNAUTHORIZED')
    expect(JSON.parse(answer.text).error).toEqual({ message: 'Unauthorized', code: 'UNAUTHORIZED', details: [] })
  })

  test('learns nothing of what exists', async () => {
    const [there, missing] = await Promise.all(
      ['wf_hello', 'wf_none'].map((id) => send('GET', `/api/workflows/${id}`, { key: false })),
    )
    const bare = ({ status, text }: Answer) => [status, text.replace(/"requestId":"[^"]*"/, '')]
    expect(bare(there as Answer)).toEqual(bare(missing as Answer))
  })
})

describe('a path', () => {
  const ids = {
    'a NUL': '%00',
    'a NUL in the middle': 'wf_%00hello',
    'a line break': 'wf%0D%0Ax',
    'a slash': 'wf%2Fhello',
    'dots and slashes': '..%2F..%2Fetc%2Fpasswd',
    'a backslash': '..%5C..%5Cx',
    'a quote': "'%20or%20'1'%3D'1",
    'a percent sign': '%25',
    'a percent sign twice over': '%2500',
    'bytes that are not UTF-8': '%FF%FE',
    'half a surrogate pair': '%ED%A0%80',
    'an overlong slash': '%C0%AF',
    'a percent sign alone': '%',
    'a broken escape': '%zz',
    'an emoji': '%F0%9F%8E%89',
    '10 KB': 'a'.repeat(10_240),
    '10 KB of escapes': '%00'.repeat(3400),
    'a space': '%20',
    __proto__: '__proto__',
    constructor: 'constructor',
  }
  const templates: [string, string, string][] = [
    ['GET', '/api/workflows/', ''],
    ['PUT', '/api/workflows/', ''],
    ['POST', '/api/workflows/', '/publish'],
    ['GET', '/api/workflow/status/', ''],
    ['POST', '/api/workflow/start/', ''],
    ['POST', '/api/workflow/resume/', ''],
    ['GET', '/api/workflow/metadata/input/', ''],
    ['GET', '/api/files/', ''],
    ['POST', '/api/tools/', '/invoke'],
  ]

  test.each(Object.entries(ids))('with %s in it is a 4xx, never a 5xx', async (_, id) => {
    for (const [method, before, after] of templates) {
      const body = method === 'GET' ? undefined : '{}'
      const answer = await send(method, `${before}${id}${after}`, { headers: JSON_TYPE, ...(body ? { body } : {}) })
      expect(answer.status, `${method} ${before}…${after}: ${answer.text.slice(0, 300)}`).toBeGreaterThanOrEqual(400)
      expect(answer.status, `${method} ${before}…${after}: ${answer.text.slice(0, 300)}`).toBeLessThan(500)
      expect(answer.text).not.toMatch(/node_modules|postgres|\bat \w+ \(/i)
    }
  })

  test.each([
    ['GET', '/api/nothing'],
    ['POST', '/api/nothing/at/all'],
    ['DELETE', '/api/workflows/wf_hello/nothing'],
    ['PATCH', '/api/workflow/status'],
    ['GET', '/api/agents'],
    ['PUT', '/api/__proto__'],
    ['GET', '/api'],
    ['GET', '/api/inngest'],
    ['DELETE', '/api/inngest'],
  ])('that is none answers in the one shape: %s %s', async (method, path) => {
    for (const key of [true, false]) expectError(await send(method, path, { key }), 404, 'NOT_FOUND')
  })

  test('says which methods it has', async () => {
    const answer = await send('DELETE', '/api/workflow/start/wf_hello')
    expectError(answer, 405, 'METHOD_NOT_ALLOWED')
    expect(answer.headers.allow).toBe('POST, OPTIONS')
    expectError(await send('PATCH', '/api/workflows'), 405, 'METHOD_NOT_ALLOWED')
  })

  test.each(['HEAD', 'TRACE', 'PROPFIND', 'QUERY', 'LINK'])('does not break on %s', async (method) => {
    const { status, text } = await send(method, '/api/workflows')
    expect(status, text).toBeLessThan(500)
    if (method === 'HEAD') expect([status, text]).toEqual([200, ''])
    else expect(status).toBeGreaterThanOrEqual(400)
  })
})

describe('a query', () => {
  test.each([
    'search=%00',
    'search=%ED%A0%80',
    'search=%FF',
    'search=%',
    'search=%zz',
    'search=%25%5C_',
    "search=';drop table workflows;--",
    `search=${'a'.repeat(9000)}`,
    'limit=-1',
    'limit=1.5',
    'limit=NaN',
    'limit=1e400',
    'limit=9999999999999999999999',
    'limit=',
    'limit=0x10',
    'offset=-1',
    'offset=99999999999999999999',
    'includeArchived=maybe',
    'status=none',
    'limit=1&limit=x',
    '%00=1',
    '__proto__=1&constructor=2',
    '=',
    '&&&&',
    `${'a=1&'.repeat(2000)}`,
  ])('is answered or refused: %s', async (query) => {
    const { status, text } = await send('GET', `/api/workflows?${query.replaceAll(' ', '%20')}`)
    expect([200, 400, 414, 431], text.slice(0, 300)).toContain(status)
  })
})

describe('a request id', () => {
  test.each(['abcdefgh', 'A-1'.repeat(20), '00000000-0000-4000-8000-000000000000'])('%s comes back', async (id) => {
    const answer = await send('GET', '/api/workflows/none', { headers: { 'x-request-id': id } })
    expect([answer.headers['x-request-id'], JSON.parse(answer.text).requestId]).toEqual([id, id])
  })

  test.each(['', 'short', 'a'.repeat(65), 'with space1', 'line_break', '<script>alert(1)</script>'])(
    '%j is replaced by one of ours',
    async (id) => {
      const { headers } = await send('GET', '/api/workflows', { headers: { 'x-request-id': id } })
      expect(headers['x-request-id']).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-/)
    },
  )

  test('is on answers of every kind', async () => {
    const answers = await Promise.all([
      send('GET', '/api/workflows'),
      send('GET', '/api/nothing'),
      send('OPTIONS', '/api/workflows'),
      send('PATCH', '/api/workflows'),
      send('GET', '/api/workflows', { key: false }),
    ])
    for (const { headers } of answers) expect(headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/)
    expect(new Set(answers.map(({ headers }) => headers['x-request-id'])).size).toBe(answers.length)
  })
})

describe('headers', () => {
  test.each<[string, Record<string, string | string[]>]>([
    ['a tenant that is not the key’s', { 'x-tenant-id': 'ten_other' }],
    ['the tenant twice', { 'x-tenant-id': ['ten_a', 'ten_b'] }],
  ])('with %s are refused', async (_, headers) => {
    expectError(await send('GET', '/api/workflows', { headers }), 401, 'UNAUTHORIZED')
  })

  test.each<[string, Record<string, string>]>([
    ['an odd Prefer', { prefer: 'wait=-1, respond-async; x="' }],
    ['an odd If-Match', { 'if-match': '"\\"' }],
    ['a forged address', { 'x-forwarded-for': 'x, , ::1, 999.9.9.9' }],
    [
      'a forged host',
      { host: 'evil.example.com', 'x-forwarded-host': 'evil.example.com', 'x-forwarded-proto': 'gopher' },
    ],
    ['what Next uses inside', { 'x-middleware-subrequest': 'middleware', 'x-nextjs-data': '1', 'next-action': 'x' }],
    ['an odd Accept', { accept: '*/*;q=NaN, \u00ff' }],
    ['an Expect', { expect: '100-continue' }],
    ['a Range', { range: 'bytes=0-1' }],
  ])('with %s change nothing', async (_, headers) => {
    const { status, text } = await send('GET', '/api/workflows/wf_hello', { headers })
    expect(status, text).toBe(200)
    expect(JSON.parse(text)).toMatchObject({ id: 'wf_hello' })
  })

  test('that no HTTP allows are refused by the server itself', async () => {
    for (const text of ['GET /api/workflows HTTP/1.1\r\nHost: a\r\nx-api-key: a\u0000b\r\n\r\n', 'nonsense\r\n\r\n'])
      expect(await sendRaw(text)).toMatch(/^HTTP\/1\.1 400 /)
  })

  test('with two lengths or a length and chunks are refused: they smuggle requests', async () => {
    const head = `POST /api/workflows HTTP/1.1\r\nHost: a\r\nx-api-key: ${web.apiKey}\r\nConnection: close\r\n`
    for (const lengths of ['Content-Length: 2\r\nContent-Length: 3', 'Content-Length: 2\r\nTransfer-Encoding: chunked'])
      expect(await sendRaw(`${head}${lengths}\r\n\r\n{}`)).toMatch(/^HTTP\/1\.1 400 /)
  })
})

describe('another origin', () => {
  const bearer = () => ({ authorization: `Bearer ${token}` })

  test('may ask first, without a credential', async () => {
    const headers = {
      origin: ORIGIN,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization',
    }
    const answer = await send('OPTIONS', '/api/workflow/start/wf_hello', { key: false, headers })
    expect(answer).toMatchObject({
      status: 204,
      text: '',
      headers: { 'access-control-allow-origin': ORIGIN, 'access-control-allow-methods': 'POST, OPTIONS' },
    })
    expect(answer.headers['access-control-allow-credentials']).toBeUndefined()
    const stranger = { ...headers, origin: 'https://evil.example.com' }
    const refused = await send('OPTIONS', '/api/workflow/start/wf_hello', { key: false, headers: stranger })
    expect(refused.headers['access-control-allow-origin']).toBeUndefined()
  })

  test('reads answers and errors to a token, and never those to a key', async () => {
    const get = (path: string, headers: Record<string, string>, key = false) =>
      send('GET', path, { key, headers: { origin: ORIGIN, ...headers } })
    const allowed = await Promise.all([get('/api/workflows', bearer()), get('/api/workflows/none', bearer())])
    expect(allowed.map(({ status, headers }) => [status, headers['access-control-allow-origin']])).toEqual([
      [200, ORIGIN],
      [404, ORIGIN],
    ])
    const refused = await Promise.all([
      get('/api/workflows', {}, true),
      get('/api/workflows', bearer(), true),
      get('/api/workflows', {}),
      get('/api/workflows', { ...bearer(), origin: 'https://evil.example.com' }),
    ])
    expect(refused.map(({ headers }) => headers['access-control-allow-origin'])).toEqual(Array(4).fill(undefined))
  })
})

test('a page carries the headers that protect it', async () => {
  const { status, headers } = await send('GET', '/', { key: false })
  expect(status).toBeLessThan(400)
  expect(headers).toMatchObject({
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
  })
  expect(headers['content-security-policy']).toContain("frame-ancestors 'none'")
  expect(headers['x-powered-by']).toBeUndefined()
})

test('who starts a run with a token is its subject, and nothing secret is in the log', async () => {
  const body = JSON.stringify({ name: 'Ada' })
  const headers = { ...JSON_TYPE, authorization: `Bearer ${token}`, 'content-length': String(body.length) }
  const started = await send('POST', '/api/workflow/start-async/wf_hello', { key: false, headers, body })
  expect(started.status, started.text).toBe(200)
  const [run] = await database.sql<{ started_by: string }[]>`
    select started_by from runs where id = ${JSON.parse(started.text).runId}`
  expect(run?.started_by).toBe('user_123')
  expect(web.logs()).not.toContain(token)
  expect(web.logs()).not.toContain(web.apiKey)
})

test('tokens that the limit refuses say when to come back', async () => {
  const limited = await startWeb({
    databaseUrl: database.url,
    tenantId: web.tenantId,
    apiKey: web.apiKey,
    env: { ENCRYPTION_KEY, RATE_LIMIT_REQUESTS: '3', RATE_LIMIT_FAILURES: '2', MILLRACE_EMBEDDED: '1' },
  })
  try {
    const call = (headers: Record<string, string>) => fetch(`${limited.url}/api/workflows`, { headers })
    const good = { 'x-api-key': web.apiKey }
    const bad = { 'x-api-key': 'sk_wrongwrong' }
    const failures = []
    // A forged address does not open another bucket.
    for (let i = 0; i < 4; i++) failures.push((await call({ ...bad, 'x-forwarded-for': `192.0.2.${i}` })).status)
    expect(failures).toEqual([401, 401, 429, 429])
    const statuses = []
    for (let i = 0; i < 3; i++) statuses.push((await call(good)).status)
    expect(statuses).toEqual([200, 200, 200])
    const refused = await call(good)
    expect(refused.status).toBe(429)
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
    expect(refused.headers.get('ratelimit-limit')).toBe('3')
    expect(refused.headers.get('ratelimit-remaining')).toBe('0')
    expect(await refused.json()).toMatchObject({ success: false, error: { code: 'RATE_LIMITED' } })
  } finally {
    await limited.stop()
  }
})
