import { asc, eq } from 'drizzle-orm'
import { members, users } from '@/db/schema/members'
import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'

/** The people of the tenant, by address. */
export async function listMembers(ctx: ServiceContext) {
  authorize(ctx, 'member:manage')
  return ctx.db
    .select({
      userId: users.id,
      email: users.email,
      name: users.name,
      role: members.role,
      createdAt: members.createdAt,
    })
    .from(members)
    .innerJoin(users, eq(users.id, members.userId))
    .where(eq(members.tenantId, ctx.tenantId))
    .orderBy(asc(users.email))
}
