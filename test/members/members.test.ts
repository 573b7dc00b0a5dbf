import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { members } from '@/db/schema/members'
import { tenants } from '@/db/schema/tenants'
import { findMembership } from '@/server/auth/session'
import type { ServiceContext } from '@/server/context'
import { changeRole } from '@/server/members/change-role'
import { createMember } from '@/server/members/create'
import { createInvitation } from '@/server/members/invitations/create'
import { listInvitations } from '@/server/members/invitations/list'
import { listMembers } from '@/server/members/list'
import { removeMember } from '@/server/members/remove'
import { ROLES, type Role } from '@/server/roles'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { newTenant, withRole } from '../support/tenant'
import { newMember } from './people'

let database: FreshDatabase
let tenant: ServiceContext
beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(() => database.close())
beforeEach(async () => {
  tenant = await newTenant(database)
})

const roleIn = async (ctx: ServiceContext, userId: string) =>
  (await listMembers(withRole(ctx, 'owner'))).find((one) => one.userId === userId)?.role

describe('who manages whom', () => {
  /** Admins manage roles below admin, owners manage all, others manage nobody. */
  const allowed = (by: Role, role: Role) =>
    by === 'owner' || (by === 'admin' && (role === 'viewer' || role === 'operator' || role === 'editor'))

  test.each(ROLES.flatMap((by) => ROLES.map((role) => [by, role] as const)))('a %s and a %s', async (by, role) => {
    await newMember(database, tenant, 'owner')
    const actor = await newMember(database, tenant, by)
    const other = await newMember(database, tenant, role)
    const viewer = await newMember(database, tenant, 'viewer')
    const attempts: [string, () => Promise<unknown>][] = [
      ['invites', () => createInvitation(actor.ctx, { email: `new-${by}-${role}@example.com`, role })],
      ['makes', () => createMember(actor.ctx, { email: `made-${by}-${role}@example.com`, role })],
      ['raises to', () => changeRole(actor.ctx, { userId: viewer.userId, role })],
      ['lowers', () => changeRole(actor.ctx, { userId: other.userId, role: 'viewer' })],
      ['removes', () => removeMember(actor.ctx, { userId: other.userId })],
    ]
    for (const [what, attempt] of attempts) {
      // A demoted person may no longer manage anyone, so restore the role for this attempt.
      await database.db.update(members).set({ role }).where(eq(members.userId, other.userId))
      const outcome = await attempt().then(
        () => true,
        (err) => (err.code === 'FORBIDDEN' ? false : err),
      )
      expect([what, outcome]).toEqual([what, allowed(by, role)])
    }
  })
})

describe('the last owner', () => {
  test('can be neither removed nor demoted, not even by themselves', async () => {
    const { ctx, userId } = await newMember(database, tenant, 'owner')
    await expect(removeMember(ctx, { userId })).rejects.toMatchObject({ code: 'CONFLICT', status: 409 })
    await expect(changeRole(ctx, { userId, role: 'admin' })).rejects.toMatchObject({ code: 'CONFLICT' })
    expect(await changeRole(ctx, { userId, role: 'owner' })).toEqual({ userId, role: 'owner' })
    expect(await roleIn(tenant, userId)).toBe('owner')
    const second = await newMember(database, tenant, 'owner')
    await changeRole(second.ctx, { userId, role: 'viewer' })
    expect(await roleIn(tenant, userId)).toBe('viewer')
  })

  test('remains when all owners demote each other at once', async () => {
    for (let round = 0; round < 5; round++) {
      const fresh = await newTenant(database)
      const owners = await Promise.all(Array.from({ length: 3 }, () => newMember(database, fresh, 'owner')))
      const moves = owners.map(({ ctx }, i) => {
        const userId = owners[(i + 1) % 3]?.userId ?? ''
        return round % 2 ? removeMember(ctx, { userId }) : changeRole(ctx, { userId, role: 'viewer' })
      })
      await Promise.allSettled(moves)
      const left = (await listMembers(withRole(fresh, 'owner'))).filter(({ role }) => role === 'owner')
      expect(left.length).toBe(1)
    }
  })
})

test('a removed member is refused from the next request on', async () => {
  const owner = await newMember(database, tenant, 'owner')
  const { userId } = await newMember(database, tenant, 'editor')
  const [row] = await database.db.select().from(tenants).where(eq(tenants.id, tenant.tenantId))
  const slug = row?.slug ?? ''
  expect(await findMembership(database.db, userId, slug)).toMatchObject({ role: 'editor' })
  await changeRole(owner.ctx, { userId, role: 'viewer' })
  expect(await findMembership(database.db, userId, slug)).toMatchObject({ role: 'viewer' })
  await removeMember(owner.ctx, { userId })
  expect(await findMembership(database.db, userId, slug)).toBeNull()
})

test('links of someone who may no longer create them stop working', async () => {
  const owner = await newMember(database, tenant, 'owner')
  const other = await newMember(database, tenant, 'owner')
  await createInvitation(other.ctx, { email: 'a@example.com', role: 'admin' })
  await createInvitation(other.ctx, { email: 'b@example.com', role: 'editor' })
  await createInvitation(owner.ctx, { email: 'c@example.com', role: 'owner' })
  const open = async () => (await listInvitations(owner.ctx)).map(({ email }) => email).sort()
  await changeRole(owner.ctx, { userId: other.userId, role: 'admin' })
  expect(await open()).toEqual(['b@example.com', 'c@example.com'])
  await removeMember(owner.ctx, { userId: other.userId })
  expect(await open()).toEqual(['c@example.com'])
})

test("another tenant's people look like unknown people", async () => {
  const owner = await newMember(database, tenant, 'owner')
  const elsewhere = await newMember(database, await newTenant(database), 'viewer')
  for (const userId of [elsewhere.userId, 'usr_unknown', '', '../x']) {
    const refusal = { code: 'NOT_FOUND', message: 'Not found: no member has this id', details: [] }
    await expect(removeMember(owner.ctx, { userId })).rejects.toMatchObject(refusal)
    await expect(changeRole(owner.ctx, { userId, role: 'viewer' })).rejects.toMatchObject(refusal)
  }
  expect((await listMembers(owner.ctx)).map(({ userId }) => userId)).toEqual([owner.userId])
})

test('the list shows when people were last seen', async () => {
  const owner = await newMember(database, tenant, 'owner')
  const { userId } = await createMember(owner.ctx, { email: 'never@example.com', role: 'viewer' })
  const list = await listMembers(owner.ctx)
  expect(list.find((one) => one.userId === userId)?.lastSeenAt).toBeNull()
  const seen = list.find((one) => one.userId === owner.userId)?.lastSeenAt ?? ''
  expect(Math.abs(Date.parse(seen) - Date.now())).toBeLessThan(60_000)
})
