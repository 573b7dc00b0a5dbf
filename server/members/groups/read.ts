import { authorize } from '../../auth/policy'
import type { ServiceContext } from '../../context'
import { sameGroup } from '../../definition/people'
import { type NamesGroup, workflowsNaming } from '../../workflows/named-groups'
import { type Group, readGroups, requireGroup } from './find'

export interface GroupInUse extends Group {
  /** The workflows that assign tasks to it, by name. */
  usedBy: NamesGroup[]
}

/** The tenant's groups, by name. */
export async function listGroups(ctx: ServiceContext): Promise<Group[]> {
  authorize(ctx, 'member:manage')
  return readGroups(ctx)
}

/**
 * A group with the workflows that assign tasks to it.
 * @throws AppError NOT_FOUND
 */
export async function getGroup(ctx: ServiceContext, { id }: { id: string }): Promise<GroupInUse> {
  authorize(ctx, 'member:manage')
  return withUse(ctx, await requireGroup(ctx, id))
}

export async function withUse(ctx: ServiceContext, group: Group): Promise<GroupInUse> {
  const { name, earlierNames } = group
  return { ...group, usedBy: await workflowsNaming(ctx, [sameGroup(name), ...earlierNames]) }
}
