import { eq } from 'drizzle-orm'
import type { Account, Profile } from 'next-auth'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { users } from '@/db/schema/members'
import { sessions } from '@/db/schema/sessions'
import { authOptions, handleAuth, verifiedAddress } from '@/server/auth/session'
import type { ServiceContext } from '@/server/context'
import { readEnv } from '@/server/env'
import { acceptInvitation } from '@/server/members/invitations/accept'
import { createInvitation } from '@/server/members/invitations/create'
import { newMember } from '../members/people'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { newTenant } from '../support/tenant'
import { Browser } from './browser'
import { visitor } from './visitor'

vi.hoisted(() => {
  Object.assign(process.env, {
    LOG_LEVEL: 'silent',
    AUTH_TRUST_HOST: '1',
    NEXTAUTH_SECRET: 'a secret of these tests',
    GITHUB_ID: 'github-client',
    GITHUB_SECRET: 'github-secret',
  })
})

let database: FreshDatabase
let owner: { ctx: ServiceContext }
beforeAll(async () => {
  database = await freshDatabase()
  process.env.DATABASE_URL = database.url
  owner = await newMember(database, await newTenant(database), 'owner')
})
afterAll(() => database.close())

/** Simulates next-auth's call after a provider has identified someone. */
async function comes(email: string, verified = true) {
  const user = { id: 'provider-id', name: 'Ada', email }
  const account = { provider: 'github', type: 'oauth', providerAccountId: '1' } as Account
  const profile = { email, email_verified: verified } as Profile
  const admitted = await authOptions().callbacks?.signIn?.({ user, account, profile })
  return { admitted, userId: user.id }
}

test('only configured providers are offered', async () => {
  expect(authOptions().providers.map(({ id }) => id)).toEqual(['credentials', 'github'])
  const browser = new Browser(handleAuth, 'http://localhost:4321', '10.2.0.1')
  expect(Object.keys((await (await browser.get('/api/auth/providers')).json()) as object)).toEqual([
    'credentials',
    'github',
  ])
})

test('an incomplete configuration is an error that names the missing setting', () => {
  expect(() => readEnv({ GOOGLE_CLIENT_ID: 'x' })).toThrow('GOOGLE_CLIENT_SECRET is missing')
  expect(() => readEnv({ GITHUB_SECRET: 'x' })).toThrow('GITHUB_ID is missing')
})

test('the provider returns to the host and port that people visited', async () => {
  const browser = new Browser(handleAuth, 'http://localhost:4321', '10.2.0.2')
  const { url } = (await (await browser.post('/api/auth/signin/github', { callbackUrl: '/x' })).json()) as {
    url: string
  }
  const asked = new URL(url)
  expect(asked.origin + asked.pathname).toBe('https://github.com/login/oauth/authorize')
  expect(asked.searchParams.get('redirect_uri')).toBe('http://localhost:4321/api/auth/callback/github')
})

test('headers sent by a client do not change where the provider leads back to', async () => {
  const headers = { host: 'localhost:4321', 'x-forwarded-host': 'evil.example.com', 'x-forwarded-proto': 'https' }
  const answer = await handleAuth(new Request('http://localhost:4321/api/auth/providers', { headers }))
  const { github } = (await answer.json()) as Record<string, { callbackUrl: string }>
  expect(github?.callbackUrl).toBe('http://localhost:4321/api/auth/callback/github')
})

describe('a person identified by a provider', () => {
  test('is refused if the address is neither known nor invited', async () => {
    expect(await comes('stranger@example.com')).toEqual({ admitted: false, userId: 'provider-id' })
    expect(await database.db.select().from(users).where(eq(users.email, 'stranger@example.com'))).toEqual([])
  })

  test('is refused while the address is not verified', async () => {
    const { email } = await newMember(database, await newTenant(database), 'viewer')
    expect((await comes(email, false)).admitted).toBe(false)
    expect((await comes(email)).admitted).toBe(true)
  })

  test('is the user with that address, in any case', async () => {
    const { email, userId } = await newMember(database, await newTenant(database), 'viewer')
    expect(await comes(email.toUpperCase())).toEqual({ admitted: true, userId })
  })

  test('is admitted by an open invitation, but becomes a member only by accepting it', async () => {
    await createInvitation(owner.ctx, { email: 'invited@example.com', role: 'viewer' })
    const first = await comes('invited@example.com')
    expect(first).toEqual({ admitted: true, userId: expect.stringMatching(/^usr_/) })
    expect(await comes('invited@example.com')).toEqual(first)
  })

  test('takes the account back from someone who accepted the invitation in their name', async () => {
    const { token } = await createInvitation(owner.ctx, { email: 'victim@example.com', role: 'viewer' })
    await acceptInvitation(visitor(database), null, { token, person: { name: 'Eve', password: 'password-of-eve' } })
    const eve = new Browser(handleAuth, 'http://localhost:4321', '10.2.0.3')
    expect((await eve.signIn('victim@example.com', 'password-of-eve')).error).toBeNull()
    const { userId } = await comes('victim@example.com')
    expect((await eve.signIn('victim@example.com', 'password-of-eve')).error).toBe('CredentialsSignin')
    const rows = await database.db.select().from(sessions).where(eq(sessions.userId, userId))
    expect(rows.map(({ revokedAt }) => revokedAt !== null)).toEqual([true])
  })
})

test('an address counts only if the provider says it is verified', () => {
  expect(verifiedAddress({ email: 'a@example.com', email_verified: true } as Profile)).toBe('a@example.com')
  for (const profile of [
    undefined,
    {},
    { email: 'a@example.com' },
    { email: 'a@example.com', email_verified: false },
    { email: 'a@example.com', email_verified: 'true' },
    { email: '', email_verified: true },
  ])
    expect(verifiedAddress(profile as Profile)).toBeNull()
})
