import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { rateBuckets } from '@/db/schema/rate-buckets'
import type { Identity } from '@/server/auth/authenticate'
import { authenticateOrCount, countRequest } from '@/server/auth/limits'
import type { ServiceContext } from '@/server/context'
import { createApiKey } from '@/server/credentials/api-keys/create'
import { AppError } from '@/server/errors'
import { addressOf } from '@/server/http/address'
import { take } from '@/server/http/rate-limit'
import { corsHeaders, preflightHeaders } from '@/server/rest/cors'
import { listCorsOrigins, setCorsOrigins } from '@/server/tenants/cors'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { newTenant, withRole } from '../support/tenant'

vi.hoisted(() => {
  process.env.ENCRYPTION_KEY = 'ab'.repeat(32)
  process.env.LOG_LEVEL = 'silent'
})

let database: FreshDatabase
beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(() => database.close())

describe('a bucket', () => {
  test('allows a minute’s worth of requests at once, then one at a time, evenly', () => {
    let fullAt: number | undefined
    const taken: number[] = []
    for (let ms = 0; ms <= 180_000; ms += 100) {
      const result = take(fullAt, 60, ms)
      fullAt = result.fullAt
      if (result.allowed) taken.push(ms)
    }
    // At ten a second a full bucket lasts six seconds and gains six requests meanwhile; after that, one per second.
    const steady = taken.filter((ms) => ms > 20_000)
    expect(steady.every((ms, i) => i === 0 || ms - (steady[i - 1] ?? 0) === 1000)).toBe(true)
    expect(taken.length).toBe(60 + 180)
  })

  test('never has room for more than a minute’s worth of requests, however long it is idle', () => {
    let fullAt: number | undefined = 0
    let allowed = 0
    for (let i = 0; i < 100; i++) {
      const result = take(fullAt, 7, 1_000_000_000)
      fullAt = result.fullAt
      if (result.allowed) allowed += 1
    }
    expect(allowed).toBe(7)
  })
})

describe.each([false, true])('limits, counted together: %s', (limitsShared) => {
  const limits = { requests: 5, starts: 2, invokes: 0, failures: 3 }
  const tenantLimits = { requests: 0, starts: 0, invokes: 0 }
  const settings = { limits, tenantLimits, limitsShared, TRUST_PROXY: 0 }
  // A clock that stands still: otherwise buckets would refill while a slow machine counts.
  const began = Date.now()
  const at = (ms: number) => new Date(began + ms)
  let number = 0
  const somebody = (kind: 'apiKey' | 'jwt' = 'apiKey', tenantId = `ten_${limitsShared}`): Identity => {
    number += 1
    const id = `${kind}_${number}`
    return kind === 'jwt'
      ? { tenantId, actor: { kind, id, secretId: 'sec_1', role: 'operator' }, trusted: null }
      : { tenantId, actor: { kind, id, role: 'operator' }, trusted: null }
  }
  const refusal = async (outcome: Promise<unknown>) => {
    const error = await outcome.then(
      () => null,
      (err: unknown) => err,
    )
    return error instanceof AppError ? error : null
  }

  test('allow the stated number, report the remaining one, and then when to retry', async () => {
    const who = somebody()
    const seen: (string | undefined)[] = []
    for (let i = 0; i < 5; i++)
      seen.push((await countRequest(who, undefined, database.db, at(0), settings))['ratelimit-remaining'])
    expect(seen).toEqual(['4', '3', '2', '1', '0'])
    const error = await refusal(countRequest(who, undefined, database.db, at(0), settings))
    expect(error).toMatchObject({
      code: 'RATE_LIMITED',
      status: 429,
      headers: { 'ratelimit-limit': '5', 'ratelimit-remaining': '0' },
    })
    expect(Number(error?.headers['retry-after'])).toBeGreaterThan(10)
    expect(Number(error?.headers['retry-after'])).toBeLessThan(13)
  })

  test('count starts separately, and nothing where the limit is 0', async () => {
    const who = somebody()
    expect(await countRequest(who, 'starts', database.db, at(0), settings)).toMatchObject({ 'ratelimit-limit': '2' })
    await countRequest(who, 'starts', database.db, at(0), settings)
    expect((await refusal(countRequest(who, 'starts', database.db, at(0), settings)))?.code).toBe('RATE_LIMITED')
    expect(await refusal(countRequest(who, 'invokes', database.db, at(0), settings))).toBeNull()
    const none = { ...settings, limits: { requests: 0, starts: 0, invokes: 0, failures: 3 } }
    expect(await countRequest(who, 'starts', database.db, at(0), none)).toEqual({})
  })

  test('are separate per caller: keys, tenants, and subjects of one secret', async () => {
    const spent = somebody('jwt')
    for (let i = 0; i < 5; i++) await countRequest(spent, undefined, database.db, at(0), settings)
    expect((await refusal(countRequest(spent, undefined, database.db, at(0), settings)))?.code).toBe('RATE_LIMITED')
    const others = [somebody('jwt'), somebody(), { ...spent, tenantId: `ten_other_${limitsShared}` }]
    for (const other of others)
      expect(await refusal(countRequest(other, undefined, database.db, at(0), settings))).toBeNull()
  })

  describe('of a tenant', () => {
    const together = { ...settings, tenantLimits: { requests: 8, starts: 3, invokes: 0 } }
    const count = (who: Identity, kind?: 'starts') => countRequest(who, kind, database.db, at(0), together)

    test('apply to all of its credentials together, and to no other tenant', async () => {
      const tenantId = `ten_shared_${limitsShared}`
      const [one, two, other] = [somebody('jwt', tenantId), somebody('apiKey', tenantId), somebody('jwt', 'ten_quiet')]
      for (let i = 0; i < 5; i++) await count(one)
      // A request refused by its own limit costs the tenant nothing.
      for (let i = 0; i < 20; i++) expect((await refusal(count(one)))?.headers['ratelimit-limit']).toBe('5')
      const left = [await count(two), await count(two), await count(two)]
      expect(left.map((headers) => headers['ratelimit-remaining'])).toEqual(['2', '1', '0'])
      for (const who of [two, somebody('jwt', tenantId)]) {
        const error = await refusal(count(who))
        expect(error).toMatchObject({
          code: 'RATE_LIMITED',
          headers: { 'ratelimit-limit': '8', 'ratelimit-remaining': '0', 'ratelimit-reset': expect.any(String) },
        })
        expect(error?.details[0]?.message).toContain('of the workspace together')
        expect(Number(error?.headers['retry-after'])).toBeGreaterThan(5)
      }
      expect(await refusal(count(other))).toBeNull()
    })

    test('do not apply to its members, who must be able to disable a key that uses them up', async () => {
      const tenantId = `ten_flooded_${limitsShared}`
      for (let i = 0; i < 10; i++) await refusal(count(somebody('jwt', tenantId)))
      expect((await refusal(count(somebody('jwt', tenantId))))?.code).toBe('RATE_LIMITED')
      const actor = { kind: 'user', id: 'usr_admin', name: 'Ada', sessionId: 'ses_1', role: 'admin' } as const
      expect(await refusal(count({ tenantId, actor, trusted: null }))).toBeNull()
    })

    test('count starts separately', async () => {
      const tenantId = `ten_starts_${limitsShared}`
      const subjects = [1, 2, 3, 4].map(() => somebody('jwt', tenantId))
      const refused = []
      for (const who of subjects) refused.push((await refusal(count(who, 'starts')))?.headers['ratelimit-limit'])
      expect(refused).toEqual([undefined, undefined, undefined, '3'])
    })
  })

  test('allow exactly the stated number of simultaneous requests', async () => {
    const who = somebody()
    const outcomes = await Promise.all(
      Array.from({ length: 40 }, () => refusal(countRequest(who, undefined, database.db, at(0), settings))),
    )
    expect(outcomes.filter((error) => error === null).length).toBe(5)
  })

  test('on failures refuse only failures: a valid key behind the same address still works', async () => {
    const made = await createApiKey(await newTenant(database), { name: 'Good' })
    const from = { 'x-forwarded-for': `203.0.113.${limitsShared ? 1 : 2}` }
    const attempt = (headers: Record<string, string>) =>
      refusal(
        authenticateOrCount(new Headers({ ...from, ...headers }), database.db, at(0), 'Unauthorized', 'r', settings),
      )
    const bad = { 'x-api-key': 'sk_wrongwrong' }
    const codes = []
    for (let i = 0; i < 5; i++) codes.push((await attempt(bad))?.code)
    expect(codes).toEqual(['UNAUTHORIZED', 'UNAUTHORIZED', 'UNAUTHORIZED', 'RATE_LIMITED', 'RATE_LIMITED'])
    expect((await attempt({ authorization: 'Bearer x' }))?.code).toBe('RATE_LIMITED')
    expect((await attempt({}))?.code).toBe('UNAUTHORIZED')
    expect(await attempt({ 'x-api-key': made.key })).toBeNull()
    expect((await attempt({ ...bad, 'x-forwarded-for': '198.51.100.9' }))?.code).toBe('UNAUTHORIZED')
  })
})

test('in a single process use no rows; shared limits do', async () => {
  const ids = (await database.db.select().from(rateBuckets)).map(({ id }) => id)
  expect(ids.length).toBeGreaterThan(5)
  expect(ids.filter((id) => id.includes('ten_false'))).toEqual([])
})

describe('an address', () => {
  test.each([
    ['198.51.100.7', 0, '198.51.100.7'],
    ['::ffff:198.51.100.7', 0, '198.51.100.7'],
    ['forged, 198.51.100.7', 1, '198.51.100.7'],
    ['forged, 198.51.100.7, 10.0.0.1', 2, '198.51.100.7'],
    ['198.51.100.7', 3, '198.51.100.7'],
    ['2001:db8:1:2:3:4:5:6', 0, '2001:db8:1:2::/64'],
    ['2001:0DB8:0001:0002::1', 0, '2001:db8:1:2::/64'],
    ['2001:db8::1', 0, '2001:db8::/64'],
    ['2001:db8:0:1::1', 0, '2001:db8:0:1::/64'],
    ['::1', 0, '::1'],
    ['0:0:0:0:0:0:0:1', 0, '::1'],
    ['::2', 0, '::/64'],
    ['', 0, 'unknown'],
    ['x'.repeat(500), 0, 'x'.repeat(64)],
  ])('%s behind %i proxies is %s', (header, proxies, expected) => {
    expect(addressOf(new Headers({ 'x-forwarded-for': header }), proxies)).toBe(expected)
  })
})

describe('CORS', () => {
  const ORIGIN = 'https://app.example.com'
  let ctx: ServiceContext
  let other: ServiceContext
  beforeAll(async () => {
    ctx = await newTenant(database)
    other = await newTenant(database)
    await setCorsOrigins(ctx, { origins: [ORIGIN, 'http://localhost:5173', ORIGIN] })
  })
  const by = (kind: 'jwt' | 'apiKey', tenantId: string): Identity => ({
    tenantId,
    actor: kind === 'jwt' ? { kind, id: 'u', secretId: 's', role: 'operator' } : { kind, id: 'k', role: 'owner' },
    trusted: null,
  })
  const answer = async (identity: Identity, origin?: string) =>
    (await corsHeaders(new Headers(origin === undefined ? {} : { origin }), identity, database.db))[
      'access-control-allow-origin'
    ]

  test('allows a token of a tenant that lists the origin, and nothing else', async () => {
    expect(await answer(by('jwt', ctx.tenantId), ORIGIN)).toBe(ORIGIN)
    expect(await answer(by('apiKey', ctx.tenantId), ORIGIN)).toBeUndefined()
    expect(await answer(by('jwt', other.tenantId), ORIGIN)).toBeUndefined()
    for (const origin of [
      undefined,
      '',
      '*',
      'null',
      `${ORIGIN}.evil.com`,
      `${ORIGIN}:444`,
      `${ORIGIN}/`,
      ORIGIN.toUpperCase(),
    ])
      expect(await answer(by('jwt', ctx.tenantId), origin)).toBeUndefined()
  })

  test('a preflight succeeds for an origin that any tenant lists, without credentials and without keys', async () => {
    const ask = (origin: string, more = { 'access-control-request-method': 'POST' }) =>
      preflightHeaders(new Headers({ origin, ...more }), 'POST, OPTIONS', () => database.db)
    const yes = await ask(ORIGIN)
    expect(yes).toMatchObject({
      'access-control-allow-origin': ORIGIN,
      'access-control-allow-methods': 'POST, OPTIONS',
    })
    expect(Object.keys(yes)).not.toContain('access-control-allow-credentials')
    expect(yes['access-control-allow-headers']).toContain('authorization')
    expect(yes['access-control-allow-headers']).not.toMatch(/x-api-key|x-tenant-id/)
    expect(yes.vary).toContain('Origin')
    expect(Object.keys(await ask('https://evil.example.com'))).toEqual(['vary'])
  })

  test.each([
    '*',
    'https://*.example.com',
    'https://a.example.com/',
    'https://a.example.com/x',
    'ftp://a',
    'null',
    'https://A.example.com',
    'javascript:alert(1)',
    7,
  ])('rejects %j as an origin', async (origin) => {
    await expect(setCorsOrigins(ctx, { origins: [origin] })).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  })

  test('the list is replaced as a whole, by admins', async () => {
    const tenant = await newTenant(database)
    await setCorsOrigins(tenant, { origins: ['https://b.example.com', 'https://a.example.com'] })
    expect(await listCorsOrigins(tenant)).toEqual(['https://a.example.com', 'https://b.example.com'])
    await setCorsOrigins(withRole(tenant, 'admin'), { origins: [] })
    expect(await listCorsOrigins(tenant)).toEqual([])
    await expect(setCorsOrigins(withRole(tenant, 'editor'), { origins: [] })).rejects.toMatchObject({
      code: 'FORBIDDEN',
    })
  })
})
