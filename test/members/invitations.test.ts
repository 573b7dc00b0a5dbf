import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { invitations } from '@/db/schema/invitations'
import { members, users } from '@/db/schema/members'
import { verifyPassword } from '@/server/auth/password'
import type { ServiceContext } from '@/server/context'
import { acceptInvitation } from '@/server/members/invitations/accept'
import { createInvitation } from '@/server/members/invitations/create'
import { listInvitations } from '@/server/members/invitations/list'
import { lookUpInvitation } from '@/server/members/invitations/look-up'
import { renewInvitation } from '@/server/members/invitations/renew'
import { revokeInvitation } from '@/server/members/invitations/revoke'
import { listMembers } from '@/server/members/list'
import { visitor } from '../auth/visitor'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { newTenant } from '../support/tenant'
import { newMember } from './people'

const GRACE = { name: 'Grace Hopper', password: 'correct-horse-battery' }
let database: FreshDatabase
let tenant: ServiceContext
let owner: Awaited<ReturnType<typeof newMember>>
beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(() => database.close())
beforeEach(async () => {
  tenant = await newTenant(database)
  owner = await newMember(database, tenant, 'owner')
})

let addresses = 0
function invite(role: 'viewer' | 'editor' = 'editor', email = `grace${++addresses}@example.com`) {
  return createInvitation(owner.ctx, { email, role })
}
const lookUp = (token: string) => lookUpInvitation(visitor(database), token)
const accept = (token: string, person?: typeof GRACE) =>
  acceptInvitation(visitor(database), null, { token, ...(person ? { person } : {}) })
const expire = (id: string) =>
  database.db.update(invitations).set({ expiresAt: new Date() }).where(eq(invitations.id, id))

test('a new person becomes a member with the password they chose', async () => {
  const { token, email, expiresAt } = await invite()
  expect(Date.parse(expiresAt) - Date.now()).toBeGreaterThan(6.9 * 24 * 3600_000)
  expect(await lookUp(token)).toMatchObject({
    state: 'open',
    workspace: tenant.tenantId,
    role: 'editor',
    email,
    invitedBy: owner.ctx.actor.kind === 'user' && owner.ctx.actor.name,
    known: false,
  })
  const { slug } = await accept(token, GRACE)
  expect(slug).toMatch(/^ten-/)
  const [user] = await database.db.select().from(users).where(eq(users.email, email))
  expect(user).toMatchObject({ name: 'Grace Hopper', addressProvenAt: null })
  expect(await verifyPassword(GRACE.password, user?.passwordHash ?? '')).toBe(true)
  expect(await listMembers(owner.ctx)).toContainEqual(expect.objectContaining({ email, role: 'editor' }))
  expect(await listInvitations(owner.ctx)).toEqual([])
})

test('a known person signs in first, with the address that was invited', async () => {
  const known = await newMember(database, await newTenant(database), 'viewer')
  const other = await newMember(database, await newTenant(database), 'viewer')
  const { token } = await invite('editor', known.email)
  expect(await lookUp(token)).toMatchObject({ state: 'open', known: true })
  await expect(accept(token)).rejects.toMatchObject({ code: 'UNAUTHORIZED' })
  // A stranger must not be able to set the known person's password.
  await expect(accept(token, GRACE)).rejects.toMatchObject({ code: 'UNAUTHORIZED' })
  await expect(acceptInvitation(visitor(database), other.session, { token })).rejects.toMatchObject({
    code: 'FORBIDDEN',
  })
  expect(await lookUp(token)).toMatchObject({ state: 'open' })
  await acceptInvitation(visitor(database), known.session, { token })
  expect(await listMembers(owner.ctx)).toContainEqual(expect.objectContaining({ userId: known.userId, role: 'editor' }))
})

describe('an invitation link', () => {
  test('works once, even if several people use it at once', async () => {
    const { token } = await invite()
    const outcomes = await Promise.allSettled(Array.from({ length: 6 }, () => accept(token, GRACE)))
    expect(outcomes.filter(({ status }) => status === 'fulfilled').length).toBe(1)
    for (const it of outcomes) if (it.status === 'rejected') expect(it.reason).toMatchObject({ code: 'CONFLICT' })
    expect(await lookUp(token)).toEqual({ state: 'used', workspace: tenant.tenantId })
  })

  test('expires after seven days, and can be replaced', async () => {
    const { id, token } = await invite()
    await expire(id)
    expect(await lookUp(token)).toEqual({ state: 'expired', workspace: tenant.tenantId })
    await expect(accept(token, GRACE)).rejects.toMatchObject({ code: 'CONFLICT', message: /expired/ })
    expect(await listInvitations(owner.ctx)).toMatchObject([{ id, expired: true }])
    const renewed = await renewInvitation(owner.ctx, id)
    expect(await lookUp(token)).toEqual({ state: 'unknown' })
    expect(await lookUp(renewed.token)).toMatchObject({ state: 'open' })
    await accept(renewed.token, GRACE)
    await expect(renewInvitation(owner.ctx, id)).rejects.toMatchObject({ code: 'CONFLICT' })
    await expect(revokeInvitation(owner.ctx, id)).rejects.toMatchObject({ code: 'CONFLICT' })
  })

  test('stops working when it is revoked, or another is created for the address', async () => {
    const first = await invite()
    const second = await invite('viewer', first.email)
    expect(await lookUp(first.token)).toEqual({ state: 'revoked', workspace: tenant.tenantId })
    await revokeInvitation(owner.ctx, second.id)
    await expect(accept(second.token, GRACE)).rejects.toMatchObject({ code: 'CONFLICT', message: /withdrawn/ })
    expect(await listInvitations(owner.ctx)).toEqual([])
  })

  test('cannot be guessed or found in the database', async () => {
    const { token, id } = await invite()
    const [row] = await database.db.select().from(invitations).where(eq(invitations.id, id))
    expect(token).toMatch(/^[A-Za-z0-9_-]{32}$/)
    expect(JSON.stringify(row)).not.toContain(token)
    for (const wrong of ['', 'x', id, row?.tokenHash ?? '', token.toLowerCase(), `${token} `, 'A'.repeat(32)]) {
      expect(await lookUp(wrong)).toEqual({ state: 'unknown' })
      await expect(accept(wrong, GRACE)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    }
  })
})

test('a member is not invited again, and an unknown role is rejected', async () => {
  await expect(invite('viewer', owner.email)).rejects.toMatchObject({ code: 'CONFLICT', details: [{ path: 'email' }] })
  await expect(createInvitation(owner.ctx, { email: 'x@example.com', role: 'god' as never })).rejects.toMatchObject({
    code: 'INVALID_INPUT',
  })
  await expect(invite('viewer', 'a@example.com,b@example.com')).rejects.toMatchObject({ code: 'INVALID_INPUT' })
})

test("another tenant's invitation looks like an unknown one", async () => {
  const stranger = await newMember(database, await newTenant(database), 'owner')
  const { id } = await invite()
  for (const touch of [renewInvitation, revokeInvitation]) {
    const refusal = { code: 'NOT_FOUND', message: 'Not found: no invitation has this id' }
    await expect(touch(stranger.ctx, id)).rejects.toMatchObject(refusal)
    await expect(touch(stranger.ctx, 'inv_unknown')).rejects.toMatchObject(refusal)
  }
  expect(await listInvitations(stranger.ctx)).toEqual([])
})

test('an admin can neither renew nor revoke an owner’s link', async () => {
  const admin = await newMember(database, tenant, 'admin')
  const { id } = await createInvitation(owner.ctx, { email: 'boss@example.com', role: 'owner' })
  for (const touch of [renewInvitation, revokeInvitation])
    await expect(touch(admin.ctx, id)).rejects.toMatchObject({ code: 'FORBIDDEN' })
})

test('someone who has become a member in the meantime keeps their role', async () => {
  const known = await newMember(database, await newTenant(database), 'viewer')
  const { token } = await invite('viewer', known.email)
  const row = { tenantId: tenant.tenantId, userId: known.userId, role: 'admin' as const, createdAt: new Date() }
  await database.db.insert(members).values(row)
  await acceptInvitation(visitor(database), known.session, { token })
  expect(await listMembers(owner.ctx)).toContainEqual(expect.objectContaining({ userId: known.userId, role: 'admin' }))
})
