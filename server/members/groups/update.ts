import { groups } from '@/db/schema/groups'
import { recordChanges } from '../../audit/record'
import { authorize } from '../../auth/policy'
import { type ServiceContext, type TransactionContext, withTransaction } from '../../context'
import { differences } from '../../definition/audit'
import { sameGroup } from '../../definition/people'
import { parseInput } from '../../parse'
import { getTenant } from '../../tenants/find'
import { emailsOf, type Group, groupIs, requireGroup, setMembers, takeName } from './find'
import { type GroupInUse, withUse } from './read'
import { UpdateGroup } from './schema'

/** Older ones are forgotten. */
const MAX_EARLIER = 20

/**
 * Renames a group or sets its members, effective from the next request. After a rename, definitions and open tasks that
 * have the earlier name still mean the group, until another group takes that name.
 * @returns the group, with the workflows that should be changed
 * @throws AppError NOT_FOUND, INVALID_INPUT, CONFLICT for a name that another group has
 */
export async function updateGroup(
  ctx: ServiceContext,
  { id, body }: { id: string; body: unknown },
): Promise<GroupInUse> {
  authorize(ctx, 'member:manage')
  const group = await withTransaction(ctx, async (tx) => {
    await getTenant(tx, { lock: true })
    const old = await requireGroup(tx, id)
    const { name = old.name, memberIds } = parseInput(UpdateGroup, body)
    const before = await emailsOf(tx, id)
    const emails = memberIds === undefined ? before : await setMembers(tx, id, memberIds)
    const changed = differences({ name: old.name, members: before }, { name, members: emails })
    if (Object.keys(changed).length > 0) await rename(tx, old, name)
    await recordChanges(tx, 'group.updated', { id, name }, changed)
    return requireGroup(tx, id)
  })
  // It reads every definition, and nobody should wait for that at the tenant's lock.
  return withUse(ctx, group)
}

async function rename(tx: TransactionContext, { id, ...old }: Group, name: string): Promise<void> {
  const before = sameGroup(old.name)
  const key = await takeName(tx, name, id)
  const earlier = [...old.earlierNames.filter((one) => one !== before), before].filter((one) => one !== key)
  await tx.db
    .update(groups)
    .set({ name, key, earlierKeys: earlier.slice(-MAX_EARLIER), updatedAt: tx.now() })
    .where(groupIs(tx, id))
}
