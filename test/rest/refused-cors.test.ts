import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { corsOrigins } from '@/db/schema/cors'
import type { ServiceContext } from '@/server/context'
import { createSigningSecret } from '@/server/credentials/signing-secrets/create'
import { mint } from '../auth/support'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { newTenant } from '../support/tenant'

vi.hoisted(() => {
  Object.assign(process.env, { ENCRYPTION_KEY: 'ab'.repeat(32), LOG_LEVEL: 'silent', MILLRACE_EMBEDDED: '1' })
  process.env.JWT_AUDIENCE = 'app.example.com'
})

const ORIGIN = 'https://app.example.com'
let database: FreshDatabase
let ctx: ServiceContext
let secret: { id: string; secret: string }
beforeAll(async () => {
  database = await freshDatabase()
  process.env.DATABASE_URL = database.url
  ctx = await newTenant(database)
  secret = await createSigningSecret(ctx, { name: 'S', role: 'operator' })
  await database.db.insert(corsOrigins).values({ tenantId: ctx.tenantId, origin: ORIGIN } as never)
})
afterAll(() => database.close())

function token(expiresIn: number): string {
  const exp = Math.floor(Date.now() / 1000) + expiresIn
  const claims = { sub: 'ada', aud: 'app.example.com', iat: exp - 600, exp }
  return `Bearer ${mint({ alg: 'HS256', kid: secret.id }, claims, secret.secret)}`
}

async function call(method: 'GET' | 'POST' | 'PATCH', headers: Record<string, string>, query = '', body?: string) {
  const route = await import('@/app/api/workflows/route')
  const request = new Request(`https://api.example.com/api/workflows${query}`, { method, headers, body: body ?? null })
  return route[method](request, { params: Promise.resolve({}) })
}

test.each<[number, string, () => Promise<Response>]>([
  [401, 'an expired token', () => call('GET', { origin: ORIGIN, authorization: token(-3600) })],
  [401, 'no credential', () => call('GET', { origin: ORIGIN })],
  [400, 'an unknown parameter', () => call('GET', { origin: ORIGIN, authorization: token(600) }, '?no=1')],
  [
    400,
    'a body that is not JSON',
    () => call('POST', { origin: ORIGIN, authorization: token(600), 'content-type': 'application/json' }, '', '{'),
  ],
  [
    413,
    'a body that is too large',
    () =>
      call(
        'POST',
        { origin: ORIGIN, authorization: token(600), 'content-type': 'application/json' },
        '',
        JSON.stringify({ a: 'x'.repeat(9_000_000) }),
      ),
  ],
  [405, 'a method that the path does not have', () => call('PATCH', { origin: ORIGIN, authorization: token(600) })],
  [
    404,
    'an unknown path',
    async () => {
      const { GET } = await import('@/app/api/[[...path]]/route')
      return GET(new Request('https://api.example.com/api/nothing', { headers: { origin: ORIGIN } }), {
        params: Promise.resolve({}),
      })
    },
  ],
])('a page of an allowed origin can read a %i for %s', async (status, _, answer) => {
  const response = await answer()
  expect(response.status).toBe(status)
  expect(response.headers.get('access-control-allow-origin')).toBe(ORIGIN)
  expect(response.headers.get('vary')).toContain('Origin')
})

test('a page of another origin cannot, and none can with an API key', async () => {
  const other = await call('GET', { origin: 'https://evil.example.com', authorization: token(-3600) })
  expect([other.status, other.headers.get('access-control-allow-origin')]).toEqual([401, null])
  const key = await call('GET', { origin: ORIGIN, 'x-api-key': 'sk_unknown_key' })
  expect([key.status, key.headers.get('access-control-allow-origin')]).toEqual([401, null])
  const none = await call('GET', { authorization: token(-3600) })
  expect([none.headers.get('access-control-allow-origin'), none.headers.get('vary')]).toEqual([null, null])
})
