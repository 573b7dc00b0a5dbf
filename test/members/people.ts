import { members } from '@/db/schema/members'
import { insertUser } from '@/server/auth/new-user'
import { startSession } from '@/server/auth/sessions'
import type { ServiceContext } from '@/server/context'
import type { Role } from '@/server/roles'
import type { FreshDatabase } from '../support/db'

let people = 0

/** A new member of the tenant, with the context of their dashboard actions. */
export async function newMember(database: FreshDatabase, tenant: ServiceContext, role: Role) {
  people += 1
  const email = `${role}${people}@example.com`
  const now = new Date()
  const user = { email, name: `${role} ${people}`, passwordHash: null, addressProvenAt: null }
  const userId = await database.db.transaction((tx) => insertUser(tx, user, now))
  if (!userId) throw new Error(`${email} exists`)
  await database.db.insert(members).values({ tenantId: tenant.tenantId, userId, role, createdAt: now })
  const sessionId = await startSession(database.db, userId, null, now)
  const ctx: ServiceContext = { ...tenant, actor: { kind: 'user', id: userId, name: user.name, sessionId, role } }
  return { userId, email, ctx, session: { userId, sessionId, email, name: user.name } }
}
