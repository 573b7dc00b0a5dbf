import { groups } from '@/db/schema/groups'
import { record } from '../../audit/record'
import { authorize } from '../../auth/policy'
import { type ServiceContext, withTransaction } from '../../context'
import { getTenant } from '../../tenants/find'
import { groupIs, requireGroup } from './find'

/**
 * Deletes a group. Its members stay, and tasks assigned to it wait until a group has its name again.
 * @throws AppError NOT_FOUND
 */
export async function deleteGroup(ctx: ServiceContext, { id }: { id: string }): Promise<{ id: string; deleted: true }> {
  authorize(ctx, 'member:manage')
  return withTransaction(ctx, async (tx) => {
    await getTenant(tx, { lock: true })
    const { name } = await requireGroup(tx, id)
    await tx.db.delete(groups).where(groupIs(tx, id))
    await record(tx, 'group.deleted', { id, name })
    return { id, deleted: true }
  })
}
