import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eq } from 'drizzle-orm'
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { agents } from '@/db/schema/agents'
import { apiKeys } from '@/db/schema/keys'
import { members, users } from '@/db/schema/members'
import { tenants } from '@/db/schema/tenants'
import { workflows } from '@/db/schema/workflows'
import { verifyPassword } from '@/server/auth/password'
import { firstBoot } from '@/server/tenants/boot/seed'
import { isLocalRequest, LOCAL_HEADER } from '@/server/tenants/setup/local'
import { setUp } from '@/server/tenants/setup/set-up'
import { getSetupState, hasOwner, previewSlug } from '@/server/tenants/setup/state'
import { setupToken } from '@/server/tenants/setup/token'
import { visitor } from '../auth/visitor'
import { type FreshDatabase, freshDatabase } from '../support/db'

const LOCAL_KEY = 'only the web process knows'
const local = { [LOCAL_HEADER]: LOCAL_KEY }
const dataDir = vi.hoisted(() => {
  const path = `${process.env.TMPDIR ?? '/tmp'}/millrace-setup-${process.pid}-${Date.now()}`
  Object.assign(process.env, {
    LOG_LEVEL: 'silent',
    DATA_DIR: path,
    MILLRACE_LOCAL_KEY: 'only the web process knows',
    RATE_LIMIT_FAILURES: '12',
  })
  return path
})
const ADA = {
  name: ' Ada Lovelace ',
  email: 'Ada@Example.com',
  password: 'correct-horse-battery',
  workspace: 'Analytical Engines',
}

let database: FreshDatabase
beforeEach(async () => {
  database = await freshDatabase()
})
afterEach(() => database.close())
afterAll(() => rmSync(dataDir, { recursive: true, force: true }))

describe('the first owner', () => {
  let tenantId: string
  beforeEach(async () => {
    tenantId = (await firstBoot(database.db, { BOOTSTRAP_TENANT_ID: undefined, BOOTSTRAP_API_KEY: undefined })).tenantId
  })

  test('takes over the tenant of the first boot with everything in it', async () => {
    const here = visitor(database, local)
    expect(await getSetupState(here)).toEqual({ tokenRequired: false, hasSamples: true })
    expect(await previewSlug(here, { name: ADA.workspace })).toEqual({ slug: 'analytical-engines' })
    expect(await setUp(here, ADA)).toEqual({ slug: 'analytical-engines', email: 'ada@example.com' })
    expect(await database.db.select().from(tenants)).toMatchObject([
      { id: tenantId, name: 'Analytical Engines', slug: 'analytical-engines' },
    ])
    const [user] = await database.db.select().from(users)
    expect(user).toMatchObject({ name: 'Ada Lovelace', email: 'ada@example.com' })
    expect(await verifyPassword(ADA.password, user?.passwordHash ?? '')).toBe(true)
    expect(await database.db.select().from(members)).toMatchObject([{ tenantId, userId: user?.id, role: 'owner' }])
    expect(await database.db.select().from(apiKeys)).toMatchObject([{ tenantId, disabledAt: null }])
    const kept = await database.db.select().from(workflows)
    expect(kept.length).toBeGreaterThan(1)
    expect(kept.every(({ status }) => status === 'published')).toBe(true)
  })

  test('may leave out the samples, except those that someone has changed', async () => {
    await database.db.update(workflows).set({ version: 2 }).where(eq(workflows.id, 'wf_hello'))
    await setUp(visitor(database, local), { ...ADA, samples: false })
    const left = await database.db.select().from(workflows)
    expect(left.filter(({ status }) => status !== 'archived').map(({ id }) => id)).toEqual(['wf_hello'])
    expect((await database.db.select().from(agents)).every(({ status }) => status === 'archived')).toBe(true)
  })

  test('is unique, however many people try at once', async () => {
    const tries = Array.from({ length: 5 }, (_, i) =>
      setUp(visitor(database, local), { ...ADA, email: `ada${i}@example.com`, workspace: `Team ${i}` }),
    )
    const outcomes = await Promise.allSettled(tries)
    expect(outcomes.filter(({ status }) => status === 'fulfilled').length).toBe(1)
    const refusals = outcomes.flatMap((it) => (it.status === 'rejected' ? [it.reason.code] : []))
    expect(refusals).toEqual(['NOT_FOUND', 'NOT_FOUND', 'NOT_FOUND', 'NOT_FOUND'])
    expect((await database.db.select().from(users)).length).toBe(1)
  })

  test('closes the set-up page', async () => {
    const here = visitor(database, local)
    await setUp(here, ADA)
    expect(await hasOwner(database.db)).toBe(true)
    for (const attempt of [
      () => setUp(here, { ...ADA, email: 'eve@example.com' }),
      () => getSetupState(here),
      () => previewSlug(here, { name: 'x' }),
    ])
      await expect(attempt()).rejects.toMatchObject({ code: 'NOT_FOUND', status: 404 })
  })

  test.each([
    ['name', { name: '  ' }],
    ['email', { email: 'ada' }],
    ['email', { email: 'a@example.com,b@example.com' }],
    ['password', { password: 'elevenchars' }],
    ['password', { password: 'x'.repeat(201) }],
    ['workspace', { workspace: '' }],
  ])('requires a valid %s', async (path, wrong) => {
    await expect(setUp(visitor(database, local), { ...ADA, ...wrong })).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      details: [{ path }],
    })
    expect(await hasOwner(database.db)).toBe(false)
  })

  test('does not take over an existing person', async () => {
    const row = { id: 'usr_1', email: 'ada@example.com', name: 'Ada', passwordHash: 'x' }
    await database.db.insert(users).values(row)
    await expect(setUp(visitor(database, local), ADA)).rejects.toMatchObject({ code: 'CONFLICT' })
    expect(await database.db.select().from(users)).toMatchObject([row])
    expect((await database.db.select().from(tenants))[0]?.name).toBe('My workspace')
  })
})

test('creates a tenant if there is none', async () => {
  const here = visitor(database, local)
  expect(await getSetupState(here)).toEqual({ tokenRequired: false, hasSamples: false })
  await setUp(here, { ...ADA, samples: false })
  expect(await database.db.select().from(workflows)).toEqual([])
  expect(await database.db.select().from(tenants)).toMatchObject([{ slug: 'analytical-engines' }])
})

describe('from another machine', () => {
  test('the setup token is required, and deleted afterwards', async () => {
    const file = join(dataDir, 'setup-token')
    expect((await getSetupState(visitor(database))).tokenRequired).toBe(true)
    const token = setupToken()
    expect(token).toMatch(/^[0-9a-zA-Z]{16}$/)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    for (const wrong of [undefined, '', 'wrong', `${token}x`, token?.toUpperCase()]) {
      await expect(setUp(visitor(database), { ...ADA, token: wrong })).rejects.toMatchObject({
        code: 'FORBIDDEN',
        details: [{ path: 'token' }],
      })
    }
    await expect(setUp(visitor(database, { [LOCAL_HEADER]: 'guessed' }), ADA)).rejects.toMatchObject({
      code: 'FORBIDDEN',
    })
    expect(await hasOwner(database.db)).toBe(false)
    expect((await setUp(visitor(database), { ...ADA, token: ` ${token}\n` })).slug).toBe('analytical-engines')
    expect(existsSync(file)).toBe(false)
  })

  test('guesses are limited, including right ones beyond the limit', async () => {
    const from = { 'x-forwarded-for': '192.0.2.7' }
    const guess = (token: string) => setUp(visitor(database, from), { ...ADA, token })
    const outcomes = await Promise.allSettled(Array.from({ length: 20 }, () => guess('wrong')))
    const codes = outcomes.map((it) => (it.status === 'rejected' ? it.reason.code : 'let in'))
    expect(new Set(codes)).toEqual(new Set(['FORBIDDEN', 'RATE_LIMITED']))
    await expect(guess(setupToken() ?? '')).rejects.toMatchObject({ code: 'RATE_LIMITED' })
  })
})

describe('a request is local', () => {
  const settings = {
    MILLRACE_LOCAL_KEY: LOCAL_KEY,
    PUBLIC_URL: 'http://localhost:3000',
    NEXTAUTH_URL: undefined,
    TRUST_PROXY: 0,
    VERCEL: false,
  }
  const marked = new Headers(local)

  test('when the web process says so and the host is a name of this machine', () => {
    expect(isLocalRequest(marked, settings)).toBe(true)
    expect(isLocalRequest(marked, { ...settings, PUBLIC_URL: 'http://127.0.0.1:4000' })).toBe(true)
  })

  test.each([
    ['the mark is missing', {}, new Headers({ host: 'localhost', 'x-forwarded-for': '127.0.0.1' })],
    ['the mark is guessed', {}, new Headers({ [LOCAL_HEADER]: '1' })],
    ['there is no key', { MILLRACE_LOCAL_KEY: undefined }, new Headers({ [LOCAL_HEADER]: '' })],
    ['the service has a public name', { PUBLIC_URL: 'https://millrace.example.com' }, marked],
    ['people sign in under a public name', { NEXTAUTH_URL: 'https://millrace.example.com' }, marked],
    ['a proxy stands in front', { TRUST_PROXY: 1 }, marked],
    ['it runs on Vercel', { VERCEL: true }, marked],
  ])('not when %s', (_, change, headers) => {
    expect(isLocalRequest(headers, { ...settings, ...change })).toBe(false)
  })
})

test('SETUP_TOKEN takes precedence as the token', () => {
  const empty = mkdtempSync(join(tmpdir(), 'millrace-token-'))
  expect(setupToken({ SETUP_TOKEN: 'chosen by the operator', dataDir: empty, VERCEL: false })).toBe(
    'chosen by the operator',
  )
  expect(setupToken({ SETUP_TOKEN: undefined, dataDir: empty, VERCEL: true })).toBeNull()
  const made = setupToken({ SETUP_TOKEN: undefined, dataDir: empty, VERCEL: false })
  expect(setupToken({ SETUP_TOKEN: undefined, dataDir: empty, VERCEL: false })).toBe(made)
  rmSync(empty, { recursive: true })
})
