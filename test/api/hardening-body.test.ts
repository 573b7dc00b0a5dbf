import { connect as connectTcp } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createSigningSecret } from '@/server/credentials/signing-secrets/create'
import { claims, mint } from '../auth/support'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { type Answer, expectError, JSON_TYPE, rawHttp } from '../support/raw-http'
import { startWeb, type Web } from '../support/service'
import { newTenant } from '../support/tenant'

// The tests write a secret that the service reads.
const ENCRYPTION_KEY = 'cd'.repeat(32)
process.env.ENCRYPTION_KEY = ENCRYPTION_KEY
process.env.LOG_LEVEL = 'silent'

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
  const now = Math.floor(Date.now() / 1000)
  token = mint({ alg: 'HS256', kid: id }, claims({ iat: now, exp: now + 3600 }), secret)
})
afterAll(async () => {
  await web?.stop()
  await database?.close()
})

const { send, post, sendRaw } = rawHttp(() => web)

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
    ['of 1 MiB of empty lists', `{"name":"a","x":[${'[],'.repeat(349_000)}[]]}`],
  ])('%s is rejected as invalid input', async (_, body) => {
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

  test('of 1 MiB and a byte is too large, with any declared length', async () => {
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
  ])('of type %s is not accepted', async (type) => {
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

  test('that ends before its declared length is not a server error', async () => {
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

describe('an unauthenticated caller', () => {
  test.each(['/api/workflow/start/wf_hello', '/api/workflows', '/api/tools/tool_add/invoke'])(
    'is refused before the body is read: %s',
    async (path) => {
      const { hostname, port } = new URL(web.url)
      // The body is declared but never sent, so only a server that does not wait for it can answer.
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

  test('learns nothing about existing objects', async () => {
    const [there, missing] = await Promise.all(
      ['wf_hello', 'wf_none'].map((id) => send('GET', `/api/workflows/${id}`, { key: false })),
    )
    const bare = ({ status, text }: Answer) => [status, text.replace(/"requestId":"[^"]*"/, '')]
    expect(bare(there as Answer)).toEqual(bare(missing as Answer))
  })
})
