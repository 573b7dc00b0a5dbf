import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { users } from '@/db/schema/members'
import { slugOf } from '@/lib/slug'
import { changePassword } from '@/server/account/change-password'
import { endOtherSessions } from '@/server/account/end-other-sessions'
import { getAccount } from '@/server/account/get'
import type { Person } from '@/server/account/person'
import { hashPassword } from '@/server/auth/password'
import { findMembership } from '@/server/auth/session'
import { startSession, touchSession } from '@/server/auth/sessions'
import { checkPassword } from '@/server/auth/sign-in'
import type { ServiceContext } from '@/server/context'
import { leaveTenant } from '@/server/members/leave'
import { newMember } from '../members/people'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { newTenant } from '../support/tenant'

vi.hoisted(() => {
  Object.assign(process.env, { RATE_LIMIT_FAILURES: '6', LOG_LEVEL: 'silent' })
})

const OLD = 'the password until now'
const NEW = 'another password from now on'
let database: FreshDatabase
let tenant: ServiceContext
beforeAll(async () => {
  database = await freshDatabase()
  tenant = await newTenant(database)
})
afterAll(() => database.close())

/** Creates a person with a password who is signed in on two browsers. */
async function newPerson(password: string | null = OLD) {
  const { ctx, userId, session } = await newMember(database, tenant, 'editor')
  // One fixed time per test, because limits refill over time.
  const at = new Date()
  const passwordHash = password === null ? null : await hashPassword(password)
  const [row] = await database.db.update(users).set({ passwordHash }).where(eq(users.id, userId)).returning()
  if (!row) throw new Error('There is no such person.')
  const { email } = row
  const there = await startSession(database.db, userId, 'Chrome/150 Windows', at)
  const person: Person = { user: session, db: database.db, log: tenant.log, now: () => at }
  const alive = async (id: string) => (await touchSession(database.db, id, userId, at)) !== null
  const opens = async (given: string) =>
    (await checkPassword(
      database.db,
      { email, password: given },
      { address: `from-${userId}`, headers: new Headers() },
      at,
    )) !== null
  return { person, userId, ctx, sessions: async () => [await alive(session.sessionId), await alive(there)], opens }
}

describe('one’s own account', () => {
  test('lists sign-in methods and sessions, without revealing a session', async () => {
    const { person } = await newPerson()
    const account = await getAccount(person)
    expect(account).toMatchObject({ email: person.user.email, hasPassword: true })
    expect(account.sessions.filter(({ current }) => current)).toHaveLength(1)
    expect(account.sessions).toHaveLength(2)
    expect(JSON.stringify(account)).not.toMatch(/ses_|scrypt/)
    expect((await getAccount((await newPerson(null)).person)).hasPassword).toBe(false)
  })

  test('a password change needs the current password and ends every other session', async () => {
    const { person, sessions, opens } = await newPerson()
    await changePassword(person, { current: OLD, password: NEW })
    expect(await sessions()).toEqual([true, false])
    expect([await opens(OLD), await opens(NEW)]).toEqual([false, true])
  })

  test('a wrong, short or missing password changes nothing', async () => {
    const { person, sessions, opens } = await newPerson()
    for (const [input, path] of [
      [{ current: 'something else', password: NEW }, 'current'],
      [{ current: OLD, password: 'too short' }, 'password'],
      [{ password: NEW }, 'current'],
    ] as const)
      await expect(changePassword(person, input as never)).rejects.toMatchObject({
        code: 'INVALID_INPUT',
        details: [expect.objectContaining({ path })],
      })
    expect(await sessions()).toEqual([true, true])
    expect(await opens(OLD)).toBe(true)
    const { person: stranger } = await newPerson(null)
    await expect(changePassword(stranger, { current: OLD, password: NEW })).rejects.toMatchObject({ code: 'CONFLICT' })
  })

  test('wrong guesses are limited per person, regardless of guesses by people who are not signed in', async () => {
    const { person, opens } = await newPerson()
    for (let guess = 0; guess < 7; guess++) await opens(`guess ${guess}`).catch(() => {})
    await expect(opens(OLD)).rejects.toMatchObject({ code: 'RATE_LIMITED' })
    for (let guess = 0; guess < 5; guess++)
      await expect(changePassword(person, { current: `guess ${guess}`, password: NEW })).rejects.toMatchObject({
        code: 'INVALID_INPUT',
      })
    await changePassword(person, { current: OLD, password: NEW })
    await expect(changePassword(person, { current: NEW, password: OLD })).rejects.toMatchObject({
      code: 'RATE_LIMITED',
    })
  })

  test('of two simultaneous changes, one succeeds', async () => {
    const { person, opens } = await newPerson()
    const passwords = ['the first of two passwords', 'the second of two passwords']
    const done = await Promise.allSettled(
      passwords.map((password) => changePassword(person, { current: OLD, password })),
    )
    expect(done.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    const winner = done.findIndex(({ status }) => status === 'fulfilled')
    expect([await opens(passwords[winner] ?? ''), await opens(passwords[1 - winner] ?? '')]).toEqual([true, false])
  })

  test('a person can sign out everywhere else', async () => {
    const { person, sessions } = await newPerson()
    expect(await endOtherSessions(person)).toEqual({ ended: 1 })
    expect(await sessions()).toEqual([true, false])
    expect(await endOtherSessions(person)).toEqual({ ended: 0 })
  })
})

describe('leaving a workspace', () => {
  const memberships = (userId: string) => findMembership(database.db, userId, slugOf(tenant.tenantId))

  test('works for every role and affects no one else', async () => {
    const stays = await newMember(database, tenant, 'viewer')
    for (const role of ['viewer', 'operator', 'editor', 'admin'] as const) {
      const { ctx, userId } = await newMember(database, tenant, role)
      expect(await leaveTenant(ctx)).toEqual({ userId })
      expect(await memberships(userId)).toBeNull()
    }
    expect(await memberships(stays.userId)).not.toBeNull()
  })

  test('is refused for the last owner, even when all owners leave at once', async () => {
    const fresh = await newTenant(database)
    const owners = await Promise.all(Array.from({ length: 3 }, () => newMember(database, fresh, 'owner')))
    const done = await Promise.allSettled(owners.map(({ ctx }) => leaveTenant(ctx)))
    expect(done.filter(({ status }) => status === 'rejected')).toMatchObject([{ reason: { code: 'CONFLICT' } }])
  })

  test('is not possible with an API key', async () => {
    const key = { ...tenant, actor: { kind: 'apiKey' as const, id: 'key_1', role: 'owner' as const } }
    await expect(leaveTenant(key)).rejects.toMatchObject({ code: 'FORBIDDEN' })
  })
})
