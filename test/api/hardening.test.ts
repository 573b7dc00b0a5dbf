import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createSigningSecret } from '@/server/credentials/signing-secrets/create'
import { setCorsOrigins } from '@/server/tenants/cors'
import { claims, mint } from '../auth/support'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { expectError, JSON_TYPE, rawHttp } from '../support/raw-http'
import { startWeb, type Web } from '../support/service'
import { newTenant } from '../support/tenant'

// The tests write a secret that the service reads.
const ENCRYPTION_KEY = 'cd'.repeat(32)
process.env.ENCRYPTION_KEY = ENCRYPTION_KEY
process.env.LOG_LEVEL = 'silent'

const ORIGIN = 'https://app.example.com'
const _MIB = 1024 * 1024

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
  await database?.close()
})

const { send, sendRaw } = rawHttp(() => web)

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
    ['GET', '/api/nothing'],
    ['PUT', '/api/__proto__'],
    ['GET', '/api'],
    ['GET', '/api/inngest'],
    ['DELETE', '/api/inngest'],
  ])('that does not exist answers with the usual error: %s %s', async (method, path) => {
    for (const key of [true, false]) expectError(await send(method, path, { key }), 404, 'NOT_FOUND')
  })

  test('with headers that are too large, or that is not HTTP, gets the usual error', async () => {
    const headers = { authorization: `Bearer ${'a'.repeat(20_000)}` }
    const large = await send('GET', '/api/workflows', { key: false, headers })
    expectError(large, 431, 'HEADERS_TOO_LARGE')
    expect(large.headers['x-request-id']).toBe(JSON.parse(large.text).requestId)
    const odd = await sendRaw('GET /api/workflows HTTP/1.1\r\nno colon here\r\n\r\n')
    expect(odd).toMatch(/^HTTP\/1\.1 400 /)
    expect(JSON.parse(odd.slice(odd.indexOf('{')))).toMatchObject({ error: { code: 'INVALID_INPUT' } })
  })

  test('lists its methods', async () => {
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
  ])('is answered or rejected: %s', async (query) => {
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

  test('is on every kind of answer', async () => {
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
  ])('with %s are rejected', async (_, headers) => {
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

  test('of an untrusted proxy change neither the sign-in address nor any page', async () => {
    const headers = { 'x-forwarded-host': 'evil.example.com', 'x-forwarded-proto': 'https', 'x-forwarded-port': '666' }
    const sending = { key: false, headers }
    const answers = await Promise.all(
      ['/api/auth/providers', '/api/openapi.json', '/', '/sign-in', '/reference'].map((path) =>
        send('GET', path, sending),
      ),
    )
    for (const { text, headers } of answers) {
      expect(`${text}${JSON.stringify(headers)}`).not.toMatch(/evil\.example|:666/)
      expect(headers['strict-transport-security']).toBeUndefined()
    }
  })

  test('that HTTP does not allow are rejected by the server itself', async () => {
    for (const text of ['GET /api/workflows HTTP/1.1\r\nHost: a\r\nx-api-key: a\u0000b\r\n\r\n', 'nonsense\r\n\r\n'])
      expect(await sendRaw(text)).toMatch(/^HTTP\/1\.1 400 /)
  })

  test('with two lengths, or a length and chunks, are rejected as request smuggling', async () => {
    const head = `POST /api/workflows HTTP/1.1\r\nHost: a\r\nx-api-key: ${web.apiKey}\r\nConnection: close\r\n`
    for (const lengths of ['Content-Length: 2\r\nContent-Length: 3', 'Content-Length: 2\r\nTransfer-Encoding: chunked'])
      expect(await sendRaw(`${head}${lengths}\r\n\r\n{}`)).toMatch(/^HTTP\/1\.1 400 /)
  })
})

describe('a cross-origin request', () => {
  const bearer = () => ({ authorization: `Bearer ${token}` })

  test('may send a preflight without a credential', async () => {
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

  test('can read answers and errors to a token, but never those to a key', async () => {
    const get = (path: string, headers: Record<string, string>, key = false) =>
      send('GET', path, { key, headers: { origin: ORIGIN, ...headers } })
    const allowed = await Promise.all([
      get('/api/workflows', bearer()),
      get('/api/workflows/none', bearer()),
      // An anonymous caller's refusal shows a page that it has to sign in.
      get('/api/workflows', {}),
    ])
    expect(allowed.map(({ status, headers }) => [status, headers['access-control-allow-origin']])).toEqual([
      [200, ORIGIN],
      [404, ORIGIN],
      [401, ORIGIN],
    ])
    const refused = await Promise.all([
      get('/api/workflows', {}, true),
      get('/api/workflows', bearer(), true),
      get('/api/workflows', { ...bearer(), origin: 'https://evil.example.com' }),
    ])
    expect(refused.map(({ headers }) => headers['access-control-allow-origin'])).toEqual(Array(3).fill(undefined))
  })
})

test('a page carries its security headers', async () => {
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

test('the subject of a token is recorded as the run’s starter, and the log contains no secrets', async () => {
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

test('rate-limited tokens get a time to retry', async () => {
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
    // A forged address must not open another bucket.
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
