import { and, eq } from 'drizzle-orm'
import { members } from '@/db/schema/members'
import { authorize } from '../auth/policy'
import { type ServiceContext, withTransaction } from '../context'
import { getManagedRole, requireAnotherOwner } from './find'
import { revokeInvitationsBy } from './invitations/revoke'

/**
 * Takes somebody out of the tenant: their very next request is refused. What they made stays, API keys too; links they
 * handed out no longer work.
 * @throws AppError NOT_FOUND, FORBIDDEN, CONFLICT for the last owner
 */
export async function removeMember(ctx: ServiceContext, userId: string): Promise<{ userId: string }> {
  authorize(ctx, 'member:manage')
  return withTransaction(ctx, async (tx) => {
    const role = await getManagedRole(tx, userId)
    if (role === 'owner') await requireAnotherOwner(tx, userId)
    await tx.db.delete(members).where(and(eq(members.tenantId, tx.tenantId), eq(members.userId, userId)))
    await revokeInvitationsBy(tx, userId, null)
    return { userId }
  })
}
