import { asc, eq, sql } from 'drizzle-orm'
import { members, users } from '@/db/schema/members'
import { sessions } from '@/db/schema/sessions'
import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'

/** The tenant's members, sorted by address. */
export async function listMembers(ctx: ServiceContext) {
  authorize(ctx, 'member:manage')
  return ctx.db
    .select({
      userId: users.id,
      email: users.email,
      name: users.name,
      role: members.role,
      createdAt: members.createdAt,
      /** When they last used the dashboard, in any tenant; null for never. */
      lastSeenAt: sql<
        string | null
      >`(select to_char(max(${sessions.lastSeenAt}) at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') from ${sessions} where ${sessions.userId} = ${users.id})`,
    })
    .from(members)
    .innerJoin(users, eq(users.id, members.userId))
    .where(eq(members.tenantId, ctx.tenantId))
    .orderBy(asc(users.email))
}
