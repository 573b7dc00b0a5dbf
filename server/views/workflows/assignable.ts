import { and, asc, eq, sql } from 'drizzle-orm'
import { groups } from '@/db/schema/groups'
import { members, users } from '@/db/schema/members'
import { authorize } from '../../auth/policy'
import type { ServiceContext } from '../../context'
import { ANSWERING } from '../../runs/claim-row'

/** The most people to offer; others can be typed. */
const MAX_PEOPLE = 1_000

/** Who can be named as an assignee, for the people who edit workflows. */
export interface Assignable {
  /** Members whose role may answer tasks, by name. */
  people: { id: string; name: string; email: string }[]
  groups: { name: string }[]
}

export async function listAssignable(ctx: ServiceContext): Promise<Assignable> {
  authorize(ctx, 'workflow:write')
  const [people, named] = await Promise.all([
    ctx.db
      .select({ id: users.id, name: users.name, email: users.email })
      .from(members)
      .innerJoin(users, eq(users.id, members.userId))
      .where(and(eq(members.tenantId, ctx.tenantId), sql`${members.role} in (${ANSWERING})`))
      .orderBy(asc(users.name), asc(users.id))
      .limit(MAX_PEOPLE),
    ctx.db.select({ name: groups.name }).from(groups).where(eq(groups.tenantId, ctx.tenantId)).orderBy(asc(groups.key)),
  ])
  return { people, groups: named }
}
