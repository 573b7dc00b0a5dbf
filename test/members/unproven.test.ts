import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { users } from '@/db/schema/members'
import { findMembership, listMemberships } from '@/server/auth/session'
import { startSession, touchSession } from '@/server/auth/sessions'
import { admitByAddress, checkPassword } from '@/server/auth/sign-in'
import type { ServiceContext } from '@/server/context'
import { createMember } from '@/server/members/create'
import { acceptInvitation } from '@/server/members/invitations/accept'
import { createInvitation } from '@/server/members/invitations/create'
import { lookUpInvitation } from '@/server/members/invitations/look-up'
import { visitor } from '../auth/visitor'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { newTenant } from '../support/tenant'
import { newMember } from './people'

// The holder of an invitation's link chooses the password for its address, and the inviter has the link. So without
// proof that the address is theirs, that password opens no other workspace.

const THEIRS = 'chosen by whoever had the link'
const FRESH = 'chosen with the second link'
let database: FreshDatabase
let mallory: Awaited<ReturnType<typeof newMember>>
let alice: Awaited<ReturnType<typeof newMember>>
let b: ServiceContext
let a: ServiceContext
let victim: string
let victims = 0
beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(() => database.close())
beforeEach(async () => {
  ;[a, b] = [await newTenant(database), await newTenant(database)]
  alice = await newMember(database, a, 'owner')
  mallory = await newMember(database, b, 'admin')
  victim = `victim${++victims}@example.com`
  const { token } = await createInvitation(mallory.ctx, { email: victim, role: 'viewer' })
  await acceptInvitation(visitor(database), null, { token, person: { name: 'Victim', password: THEIRS } })
})

const now = () => new Date()
const signIn = (password: string) =>
  checkPassword(database.db, { email: victim, password }, { address: victim, headers: new Headers() }, now())

/** An attacker who signed in as the victim with the first password. */
async function signedIn() {
  const user = await signIn(THEIRS)
  if (!user) throw new Error('The password does not open the account.')
  const sessionId = await startSession(database.db, user.userId, null, now())
  return { sessionId, userId: user.userId, email: victim, name: user.name }
}
const alive = ({ sessionId, userId }: { sessionId: string; userId: string }) =>
  touchSession(database.db, sessionId, userId, now())
const workspaces = async (userId: string) =>
  (await listMemberships(database.db, userId)).map(({ tenantId }) => tenantId)

test('the password opens the workspace that it was chosen for', async () => {
  const { userId } = await signedIn()
  expect(await workspaces(userId)).toEqual([b.tenantId])
})

test('it opens no workspace that the operator adds the address to: they hand out another one', async () => {
  const session = await signedIn()
  const made = await createMember(a, { email: victim, role: 'editor' })
  expect(made).toMatchObject({ userId: session.userId, password: expect.any(String) })
  expect(await signIn(THEIRS)).toBeNull()
  expect(await alive(session)).toBeNull()
  expect(await signIn(made.password ?? '')).toMatchObject({ userId: session.userId })
  expect((await workspaces(session.userId)).sort()).toEqual([a.tenantId, b.tenantId].sort())
  // From now on the address is proven, so the password stays theirs.
  const third = await newTenant(database)
  expect(await createMember(third, { email: victim, role: 'editor' })).toMatchObject({ password: null })
})

test('the operator cannot change a password for a person who is already a member either', async () => {
  await expect(createMember(b, { email: victim, role: 'owner' })).rejects.toMatchObject({ code: 'CONFLICT' })
  expect(await signIn(THEIRS)).not.toBeNull()
})

describe('the invitation to another workspace', () => {
  const invite = () => createInvitation(alice.ctx, { email: victim, role: 'editor' })
  const accept = (token: string, session: Awaited<ReturnType<typeof signedIn>> | null, more: object = {}) =>
    acceptInvitation(visitor(database), session, { token, ...more })

  test('asks for a new password, which ends the first one and every other session', async () => {
    const [here, elsewhere] = [await signedIn(), await signedIn()]
    const { token } = await invite()
    expect(await lookUpInvitation(visitor(database), token)).toMatchObject({ known: true, needsPassword: true })
    for (const more of [{}, { password: THEIRS }])
      await expect(accept(token, here, more)).rejects.toMatchObject({
        code: 'INVALID_INPUT',
        details: [{ path: 'password', message: expect.stringContaining('new') }],
      })
    expect(await workspaces(here.userId)).toEqual([b.tenantId])
    const { slug } = await accept(token, here, { password: FRESH })
    expect(await findMembership(database.db, here.userId, slug)).toMatchObject({ tenantId: a.tenantId, role: 'editor' })
    expect([await signIn(THEIRS), await alive(elsewhere)]).toEqual([null, null])
    expect([await signIn(FRESH), await alive(here)]).not.toContain(null)
  })

  test('gives its inviter, who has its link, nothing of the account', async () => {
    const { token } = await invite()
    const person = { name: 'Alice', password: FRESH }
    for (const more of [{}, { person }, { password: FRESH }])
      await expect(accept(token, null, more)).rejects.toMatchObject({ code: 'UNAUTHORIZED' })
    await expect(accept(token, alice.session, { password: FRESH })).rejects.toMatchObject({ code: 'FORBIDDEN' })
    expect(await signIn(FRESH)).toBeNull()
    expect(await signIn(THEIRS)).not.toBeNull()
  })

  test('asks nothing of a person whose address is proven', async () => {
    const { userId } = await signedIn()
    await admitByAddress(database.db, { email: victim, name: null }, now())
    expect(await signIn(THEIRS)).toBeNull()
    const sessionId = await startSession(database.db, userId, null, now())
    const { token } = await invite()
    expect(await lookUpInvitation(visitor(database), token)).toMatchObject({ known: true, needsPassword: false })
    await accept(token, { sessionId, userId, email: victim, name: 'Victim' })
    expect((await workspaces(userId)).sort()).toEqual([a.tenantId, b.tenantId].sort())
  })
})

test('an account that was in several workspaces before keeps its password and its workspaces', async () => {
  const { userId } = await signedIn()
  await newMembership(a, userId)
  expect(await signIn(THEIRS)).toMatchObject({ userId })
  expect((await workspaces(userId)).sort()).toEqual([a.tenantId, b.tenantId].sort())
  const [user] = await database.db.select().from(users).where(eq(users.id, userId))
  expect(user?.addressProvenAt).toBeNull()
})

/** As an earlier release made one. */
async function newMembership({ tenantId }: ServiceContext, userId: string) {
  await database.sql`insert into members (tenant_id, user_id, role, created_at) values (${tenantId}, ${userId}, 'editor', now())`
}
