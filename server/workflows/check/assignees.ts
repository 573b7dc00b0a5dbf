import { and, eq, gt, inArray, isNull, or } from 'drizzle-orm'
import { invitations } from '@/db/schema/invitations'
import { members, users } from '@/db/schema/members'
import { may } from '../../auth/policy'
import type { ServiceContext } from '../../context'
import { Effort } from '../../definition/effort'
import { nearestName } from '../../definition/nearest'
import { sameName } from '../../definition/people'
import type { Definition } from '../../definition/schema'
import { isId } from '../../ids'
import { roleOf } from '../../roles'
import { assignedIn, type Named } from './assigned'
import { groupWarnings } from './assigned-groups'
import type { Problem } from './problem'
import { FOR_NAMES } from './scope'

/** How many addresses to look for a similar one. */
const CANDIDATES = 1_000

/** Warnings about people and groups that have a task and cannot answer it. */
export async function assigneeWarnings(ctx: ServiceContext, definition: Definition): Promise<Problem[]> {
  const both = await Promise.all([personWarnings(ctx, definition), groupWarnings(ctx, definition)])
  return both.flat()
}

/**
 * Warnings about people who have a task and cannot answer it: nobody with that address or id is a member or invited, or
 * their role may not answer. Other names are subjects of tokens, which only the customer knows.
 */
async function personWarnings(ctx: ServiceContext, definition: Definition): Promise<Problem[]> {
  const named = namedIn(definition)
  if (named.length === 0) return []
  const names = [...new Set(named.map(({ name }) => name))]
  const [found, invited] = await Promise.all([
    ctx.db
      .select({ id: users.id, email: users.email, role: members.role })
      .from(members)
      .innerJoin(users, eq(users.id, members.userId))
      .where(and(eq(members.tenantId, ctx.tenantId), or(inArray(users.email, names), inArray(users.id, names)))),
    ctx.db
      .select({ email: invitations.email, role: invitations.role })
      .from(invitations)
      .where(
        and(
          eq(invitations.tenantId, ctx.tenantId),
          inArray(invitations.email, names),
          isNull(invitations.acceptedAt),
          isNull(invitations.revokedAt),
          gt(invitations.expiresAt, ctx.now()),
        ),
      ),
  ])
  const roles = new Map([
    ...invited.map(({ email, role }) => [email, role] as const),
    ...found.flatMap(({ id, email, role }) => [[id, role] as const, [email, role] as const]),
  ])
  const unknown = named.some(({ name }) => !roles.has(name))
  const known = unknown && may(ctx.actor.role, 'workflow:write') ? await addresses(ctx) : []
  const looking = new Effort(FOR_NAMES)
  return named.flatMap(({ stepId, field, name }): Problem[] => {
    const at = { severity: 'warning' as const, code: 'W_ASSIGNEE' as const, stepId, field }
    const role = roles.get(name)
    if (role === undefined) {
      const suggestion = nearestName(name, known, looking)
      const message = `${name} is not a member of this workspace, so they cannot answer in its inbox.`
      return suggestion === null
        ? [{ ...at, message: `${message} Invite them, or correct the address.` }]
        : [{ ...at, message: `${message} Did you mean ${suggestion}?`, suggestion }]
    }
    if (may(roleOf(role), 'task:answer')) return []
    return [
      { ...at, message: `${name} has the role ${role}, which may not answer tasks. Give them the role operator.` },
    ]
  })
}

/** The addresses and members' ids that steps are assigned to, or handed to. */
function namedIn(definition: Definition): Named[] {
  return assignedIn(definition, 'user', sameName).filter(
    ({ name }) => name.includes('@') || (name.startsWith('usr_') && isId(name)),
  )
}

async function addresses(ctx: ServiceContext): Promise<string[]> {
  const rows = await ctx.db
    .select({ email: users.email })
    .from(members)
    .innerJoin(users, eq(users.id, members.userId))
    .where(eq(members.tenantId, ctx.tenantId))
    .limit(CANDIDATES)
  return rows.map(({ email }) => email)
}
