import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { call, problemOf } from '@/app/(auth)/api'
import { createInvitation } from '@/server/members/invitations/create'
import { firstBoot } from '@/server/tenants/boot/seed'
import { handleTrpc } from '@/server/trpc/handler'
import { newMember } from '../members/people'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { newTenant } from '../support/tenant'

vi.hoisted(() => {
  Object.assign(process.env, {
    LOG_LEVEL: 'silent',
    SETUP_TOKEN: 'chosen by the operator',
    RATE_LIMIT_FAILURES: '1000',
  })
})

let database: FreshDatabase
beforeAll(async () => {
  database = await freshDatabase()
  process.env.DATABASE_URL = database.url
  await firstBoot(database.db, { BOOTSTRAP_TENANT_ID: undefined, BOOTSTRAP_API_KEY: undefined })
  vi.stubGlobal('fetch', (path: string, init: RequestInit) => {
    const headers = { ...(init.headers as Record<string, string>), 'sec-fetch-site': 'same-origin' }
    return handleTrpc(new Request(`http://localhost:3000${path}`, { ...init, headers }))
  })
})
afterAll(async () => {
  vi.unstubAllGlobals()
  await database.close()
})

const failure = async (attempt: Promise<unknown>) =>
  problemOf(
    await attempt.then(
      () => null,
      (err) => err,
    ),
  )

test('the calls of the sign-in pages match the service’s answers', async () => {
  const person = { name: 'Ada', email: 'ada@example.com', password: 'correct-horse-battery', workspace: 'Engines' }
  expect(await call('previewSlug', { name: 'Engines' })).toEqual({ slug: 'engines' })
  expect(await failure(call('setup', { ...person, password: 'short', name: '' }))).toEqual({
    fields: { name: 'Is needed', password: 'Must have at least 12 characters' },
    ...{ text: null, code: 'INVALID_INPUT' },
  })
  expect(await failure(call('setup', person))).toEqual({
    fields: { token: 'The setup token is required' },
    ...{ text: null, code: 'FORBIDDEN' },
  })
  const set = await call('setup', { ...person, token: 'chosen by the operator' })
  expect(set).toEqual({ slug: 'engines', email: 'ada@example.com' })
  expect(await failure(call('previewSlug', { name: 'x' }))).toEqual({
    fields: {},
    ...{ text: 'This service is already set up.', code: 'NOT_FOUND' },
  })

  const owner = await newMember(database, await newTenant(database), 'owner')
  const { token } = await createInvitation(owner.ctx, { email: 'grace@example.com', role: 'viewer' })
  const grace = { name: 'Grace', password: 'correct-horse-battery' }
  expect(await failure(call('acceptInvitation', { token, person: { ...grace, password: 'x' } }))).toMatchObject({
    fields: { password: 'Must have at least 12 characters' },
  })
  expect(await call('acceptInvitation', { token, person: grace })).toMatchObject({ email: 'grace@example.com' })
  expect((await failure(call('acceptInvitation', { token, person: grace }))).text).toBe(
    'This invitation has already been used.',
  )
})

test('a refusal before any verb was called is shown with its reason', async () => {
  const refused = call('startLink', { token: 'x' }, { headers: { 'content-type': 'text/plain' } })
  expect(await failure(refused)).toEqual({
    fields: {},
    ...{ text: 'Unsupported content type.', code: 'UNSUPPORTED_MEDIA_TYPE' },
  })
})

test('an unreachable service is reported as such', async () => {
  expect((await failure(Promise.reject(new TypeError('fetch failed')))).text).toMatch(/could not be reached/)
})
