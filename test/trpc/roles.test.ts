import { and, eq } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { members } from '@/db/schema/members'
import { may, POLICY } from '@/server/auth/policy'
import type { ServiceContext } from '@/server/context'
import { ROLES, type Role } from '@/server/roles'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { newTenant } from '../support/tenant'
import { CASES, caseOf, KINDS } from './procedures'
import { callProcedure, errorIn, NOBODY, newVisitor, type Visitor } from './support'

// The second half of the role matrix; `test/auth/roles.test.ts` has the REST half.

vi.hoisted(() => {
  Object.assign(process.env, { ENCRYPTION_KEY: 'ab'.repeat(32), LOG_LEVEL: 'silent', MILLRACE_EMBEDDED: '1' })
})

let database: FreshDatabase
let ctx: ServiceContext
const visitors = {} as Record<Role, Visitor>
/** The owner of another workspace, who tries to access this one. */
let stranger: Visitor

beforeAll(async () => {
  database = await freshDatabase()
  process.env.DATABASE_URL = database.url
  ctx = await newTenant(database)
  for (const role of ROLES) visitors[role] = await newVisitor(ctx, role)
  stranger = { ...(await newVisitor(await newTenant(database), 'owner')), tenant: visitors.owner.tenant }
})
afterAll(() => database.close())

/** Calls with ids that do not exist: callers with permission get that error, others do not. */
const attempt = (visitor: Visitor, name: string) => callProcedure(visitor, name, caseOf(name).input?.('none_7') ?? {})

describe('the roles of the dashboard’s API', () => {
  test('are defined for every procedure', () => {
    expect(Object.keys(KINDS).filter((name) => !(name in CASES))).toEqual([])
    expect(Object.keys(CASES).filter((name) => !(name in KINDS))).toEqual([])
    expect(Object.keys(KINDS).length).toBeGreaterThan(20)
  })

  const guarded = Object.keys(KINDS).filter((name) => (CASES[name]?.needs ?? '') in POLICY)

  test.each(guarded.flatMap((name) => ROLES.map((role) => [role, name] as const)))('%s: %s', async (role, name) => {
    const { needs } = caseOf(name)
    const { status, text } = await attempt(visitors[role], name)
    if (may(role, needs as keyof typeof POLICY)) {
      expect([401, 403], text).not.toContain(status)
      expect(status, text).toBeLessThan(500)
    } else {
      expect(status, text).toBe(403)
      expect(errorIn(text)).toMatchObject({ code: 'FORBIDDEN', message: 'Forbidden' })
    }
  })

  const closed = Object.keys(CASES).filter((name) => caseOf(name).needs !== 'nothing')

  test.each(closed)('nobody who is not signed in: %s', async (name) => {
    for (const visitor of [
      NOBODY,
      { ...NOBODY, tenant: visitors.owner.tenant },
      { ...visitors.owner, cookie: 'x=y' },
    ]) {
      const { status, text } = await attempt(visitor, name)
      expect(status, text).toBe(401)
      expect(errorIn(text)).toMatchObject({ code: 'UNAUTHORIZED', message: 'Unauthorized' })
    }
  })
})

describe('a workspace', () => {
  const ofTenants = Object.keys(KINDS).filter((name) => (CASES[name]?.needs ?? '') in POLICY)

  test.each(ofTenants)('of someone else does not exist: %s', async (name) => {
    const theirs = await attempt(stranger, name)
    expect(theirs.status, theirs.text).toBe(404)
    for (const tenant of ['no-such-workspace', 'api', '../x', null]) {
      const nobodys = await attempt({ ...stranger, tenant }, name)
      expect(withoutRequestId(nobodys.text)).toBe(withoutRequestId(theirs.text))
    }
  })

  test('is lost at once by people who are removed, and restricted at once for people who are demoted', async () => {
    const visitor = await newVisitor(ctx, 'editor')
    const membership = and(eq(members.tenantId, ctx.tenantId), eq(members.userId, visitor.userId))
    expect((await attempt(visitor, 'workflows.duplicate')).status).toBe(404)
    await database.db.update(members).set({ role: 'viewer' }).where(membership)
    expect((await attempt(visitor, 'workflows.duplicate')).status).toBe(403)
    expect((await attempt(visitor, 'runs.list')).status).toBe(200)
    await database.db.delete(members).where(membership)
    const removed = await attempt(visitor, 'runs.list')
    expect([removed.status, errorIn(removed.text).message]).toEqual([404, 'Workspace not found'])
  })
})

function withoutRequestId(text: string): string {
  return text.replaceAll(errorIn(text).requestId, '<request>')
}
