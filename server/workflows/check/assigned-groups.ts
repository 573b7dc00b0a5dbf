import { and, eq, sql } from 'drizzle-orm'
import { groupMembers, groups } from '@/db/schema/groups'
import { members } from '@/db/schema/members'
import { may } from '../../auth/policy'
import type { ServiceContext } from '../../context'
import { Effort } from '../../definition/effort'
import { nearestName } from '../../definition/nearest'
import { sameGroup, sameName } from '../../definition/people'
import type { Definition } from '../../definition/schema'
import { roleOf } from '../../roles'
import { assignedIn } from './assigned'
import type { Problem } from './problem'
import { FOR_NAMES } from './scope'

/**
 * Warnings about groups that have a task: no group has that name, it was renamed, or none of its members may answer.
 */
export async function groupWarnings(ctx: ServiceContext, definition: Definition): Promise<Problem[]> {
  const named = assignedIn(definition, 'group', sameName)
  if (named.length === 0) return []
  const found = await readGroups(ctx)
  const known = may(ctx.actor.role, 'workflow:write') ? found.map(({ name }) => name) : []
  const looking = new Effort(FOR_NAMES)
  return named.flatMap(({ stepId, field, name }): Problem[] => {
    const key = sameGroup(name)
    const at = { severity: 'warning' as const, code: 'W_ASSIGNEE' as const, stepId, field }
    const group = found.find((one) => one.key === key)
    if (group?.answers) return []
    if (group) return [{ ...at, message: `Nobody in the group ${group.name} may answer tasks. ${ADD}` }]
    const renamed = found.find(({ earlierKeys }) => earlierKeys.includes(key))
    if (renamed) {
      const message = `The group ${name} is called ${renamed.name} now. Use that name: another group may take the old one.`
      return [{ ...at, message, suggestion: renamed.name }]
    }
    const suggestion = nearestName(name, known, looking)
    const message = `The workspace has no group ${name}, so nobody in it can answer.`
    return suggestion === null
      ? [{ ...at, message: `${message} Create the group, or correct the name.` }]
      : [{ ...at, message: `${message} Did you mean ${suggestion}?`, suggestion }]
  })
}

const ADD = 'Add a member with the role operator or a higher one.'

/** The tenant's groups, each with whether any of its members may answer tasks. */
async function readGroups(ctx: ServiceContext) {
  const rows = await ctx.db
    .select({
      name: groups.name,
      key: groups.key,
      earlierKeys: groups.earlierKeys,
      roles: sql<
        string[]
      >`coalesce(json_agg(distinct ${members.role}) filter (where ${members.role} is not null), '[]')`,
    })
    .from(groups)
    .leftJoin(groupMembers, and(eq(groupMembers.tenantId, groups.tenantId), eq(groupMembers.groupId, groups.id)))
    .leftJoin(members, and(eq(members.tenantId, groupMembers.tenantId), eq(members.userId, groupMembers.userId)))
    .where(eq(groups.tenantId, ctx.tenantId))
    .groupBy(groups.tenantId, groups.id)
    .orderBy(groups.key)
  return rows.map(({ roles, ...group }) => ({
    ...group,
    answers: roles.some((role) => may(roleOf(role), 'task:answer')),
  }))
}
