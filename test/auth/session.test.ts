import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { members } from '@/db/schema/members'
import { sessions } from '@/db/schema/sessions'
import { findMembership, handleAuth, listMemberships, readSession } from '@/server/auth/session'
import type { ServiceContext } from '@/server/context'
import { createMember } from '@/server/members/create'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { PATIENCE } from '../support/patience'
import { newTenant } from '../support/tenant'
import { Browser } from './browser'

vi.hoisted(() => {
  Object.assign(process.env, {
    LOG_LEVEL: 'silent',
    AUTH_TRUST_HOST: '1',
    TRUST_PROXY: '1',
    NEXTAUTH_SECRET: 'a secret of these tests',
    RATE_LIMIT_FAILURES: '1000',
  })
})

const PASSWORD = 'correct-horse-battery'
let database: FreshDatabase
let ctx: ServiceContext
let userId: string
let address = 0

beforeAll(async () => {
  database = await freshDatabase()
  process.env.DATABASE_URL = database.url
  ctx = await newTenant(database)
  userId = (await createMember(ctx, { email: 'ada@example.com', name: 'Ada', role: 'editor', password: PASSWORD }))
    .userId
})
afterAll(() => database.close())

/** Each browser has its own address, so that tests do not share a rate limit. */
function newBrowser(origin = 'http://localhost:4321'): Browser {
  address += 1
  return new Browser(handleAuth, origin, `10.0.0.${address}`)
}

describe('a session', () => {
  let browser: Browser
  beforeEach(async () => {
    browser = newBrowser()
    expect(await browser.signIn('Ada@Example.com', PASSWORD)).toMatchObject({ status: 200, error: null })
  })

  test('says who is signed in', async () => {
    expect(await readSession(browser.headers())).toEqual({
      sessionId: expect.stringMatching(/^ses_/),
      userId,
      email: 'ada@example.com',
      name: 'Ada',
    })
  })

  test('is in a cookie that scripts cannot read and other sites do not send', () => {
    expect(browser.setCookies.find((it) => it.startsWith('next-auth.session-token='))).toMatch(
      /; Path=\/; Expires=[^;]+; HttpOnly; SameSite=Lax$/,
    )
  })

  test('ends on the server when the person signs out', async () => {
    const before = browser.headers()
    await browser.post('/api/auth/signout')
    expect(await readSession(browser.headers())).toBeNull()
    expect(await readSession(before)).toBeNull()
  })

  test('is not ended by a sign-out without the form token', async () => {
    await browser.post('/api/auth/signout', { csrfToken: 'guessed' })
    expect(await readSession(browser.headers())).not.toBeNull()
  })

  test('ends when it expires, regardless of the cookie', async () => {
    const session = await readSession(browser.headers())
    await database.db
      .update(sessions)
      .set({ expiresAt: new Date(Date.now() - 1) })
      .where(eq(sessions.id, session?.sessionId ?? ''))
    expect(await readSession(browser.headers())).toBeNull()
  })

  test('is extended at most daily', async () => {
    const id = (await readSession(browser.headers()))?.sessionId ?? ''
    const day = 24 * 3600_000
    const endsAt = async () => (await database.db.select().from(sessions).where(eq(sessions.id, id)))[0]?.expiresAt
    const set = (seenAgo: number, left: number) =>
      database.db
        .update(sessions)
        .set({ lastSeenAt: new Date(Date.now() - seenAgo), expiresAt: new Date(Date.now() + left) })
        .where(eq(sessions.id, id))
    await set(3600_000, 29.5 * day)
    await readSession(browser.headers())
    await vi.waitFor(async () => {
      const [row] = await database.db.select().from(sessions).where(eq(sessions.id, id))
      expect(Date.now() - (row?.lastSeenAt.getTime() ?? 0)).toBeLessThan(60_000)
    }, PATIENCE)
    expect((await endsAt())?.getTime()).toBeLessThan(Date.now() + 29.6 * day)
    await set(3600_000, 20 * day)
    await readSession(browser.headers())
    await vi.waitFor(async () => expect((await endsAt())?.getTime()).toBeGreaterThan(Date.now() + 29.9 * day), PATIENCE)
  })

  test('is invalid with a changed cookie, another secret or none', async () => {
    const name = 'next-auth.session-token'
    const value = browser.cookies.get(name) ?? ''
    expect(await readSession(new Headers({ cookie: `${name}=${value}` }))).not.toBeNull()
    for (const cookie of [
      '',
      `${name}=`,
      `${name}=${value.slice(0, -3)}abc`,
      `${name}=x.y.z`,
      `__Secure-${name}=${value}`,
    ]) {
      expect(await readSession(new Headers({ cookie }))).toBeNull()
    }
  })
})

describe('signing in', () => {
  test.each([
    ['a wrong password', 'ada@example.com', 'wrong-horse-battery'],
    ['an unknown address', 'nobody@example.com', PASSWORD],
    ['no address', '', PASSWORD],
    ['two addresses', 'ada@example.com,eve@example.com', PASSWORD],
    ['a password that is too long to be one', 'ada@example.com', 'x'.repeat(5000)],
  ])('gives the same answer for %s', async (_, email, password) => {
    const browser = newBrowser()
    expect(await browser.signIn(email, password)).toEqual({
      status: 401,
      error: 'CredentialsSignin',
      url: expect.any(String),
    })
    expect(await readSession(browser.headers())).toBeNull()
  })

  test('is refused without the form token', async () => {
    const browser = newBrowser()
    await browser.post('/api/auth/callback/credentials', {
      email: 'ada@example.com',
      password: PASSWORD,
      csrfToken: 'x',
    })
    expect(await readSession(browser.headers())).toBeNull()
  })

  test('redirects to this origin only', async () => {
    for (const [callbackUrl, leads] of [
      ['/my-workspace/runs?status=failed', 'http://localhost:4321/my-workspace/runs?status=failed'],
      ['http://localhost:4321/x', 'http://localhost:4321/x'],
      ['https://evil.example', 'http://localhost:4321'],
      ['//evil.example', 'http://localhost:4321'],
      ['/\\evil.example', 'http://localhost:4321'],
      ['\\\\evil.example', 'http://localhost:4321'],
      ['http:evil.example', 'http://localhost:4321'],
      ['javascript:alert(1)', 'http://localhost:4321'],
      ['', 'http://localhost:4321'],
    ] as const) {
      const answer = await newBrowser().signIn('ada@example.com', PASSWORD, { callbackUrl })
      expect({ ...answer, url: answer.url.replace(/\/$/, '') }, callbackUrl).toEqual({
        status: 200,
        error: null,
        url: leads,
      })
    }
  })

  test('uses the host and port that people visited', async () => {
    for (const origin of ['http://127.0.0.1:3000', 'http://localhost:3107', 'https://millrace.example.com']) {
      const browser = newBrowser(origin)
      const answer = await browser.signIn('ada@example.com', PASSWORD, { callbackUrl: '/x' })
      expect(answer.url).toBe(`${origin}/x`)
      expect(await readSession(browser.headers())).not.toBeNull()
    }
  })

  test('uses a cookie that only https carries, where there is https', async () => {
    const browser = newBrowser('https://millrace.example.com')
    await browser.signIn('ada@example.com', PASSWORD)
    const cookie = browser.setCookies.find((it) => it.includes('session-token'))
    expect(cookie).toMatch(/^__Secure-next-auth\.session-token=.*; HttpOnly; Secure; SameSite=Lax$/)
    const device = browser.setCookies.find((it) => it.includes('millrace.device'))
    expect(device).toMatch(
      /^__Secure-millrace\.device\.[0-9a-f]{12}=[^;@]+; Path=\/api\/auth; Max-Age=31536000; HttpOnly; SameSite=Lax; Secure$/,
    )
  })

  test('survives a nonsensical cookie or form', async () => {
    const browser = newBrowser()
    browser.cookies.set('next-auth.callback-url', 'javascript:alert(1)')
    expect((await browser.get('/api/auth/csrf')).status).toBe(200)
    expect((await browser.get('/api/auth/signin?callbackUrl=javascript:1')).status).toBe(302)
    expect((await browser.get('/api/auth/_log')).status).toBe(404)
    expect((await browser.get('/api/auth/providers')).status).toBe(200)
    expect((await browser.get('/api/auth/session')).status).toBe(200)
    const raw = (body: string, type: string) =>
      handleAuth(
        new Request('http://localhost/api/auth/signout', { method: 'POST', body, headers: { 'content-type': type } }),
      )
    expect((await raw('{', 'application/json')).status).toBe(400)
    expect((await raw('x'.repeat(20_000), 'text/plain')).status).toBe(413)
  })
})

describe('a membership', () => {
  test('is found by slug, with its role, and gone from the next request after removal', async () => {
    const [mine] = await listMemberships(database.db, userId)
    if (!mine) throw new Error('no membership')
    expect(mine).toEqual({ tenantId: ctx.tenantId, slug: mine.slug, tenantName: ctx.tenantId, role: 'editor' })
    expect(await findMembership(database.db, userId, mine.slug)).toEqual(mine)
    for (const slug of ['api', 'other', '', `${mine.slug}/`, mine.slug.toUpperCase()])
      expect(await findMembership(database.db, userId, slug)).toBeNull()
    await database.db.delete(members).where(eq(members.userId, userId))
    expect(await findMembership(database.db, userId, mine.slug)).toBeNull()
  })
})
