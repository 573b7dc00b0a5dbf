import { and, eq } from 'drizzle-orm'
import { members } from '@/db/schema/members'
import { record } from '../audit/record'
import { authorize } from '../auth/policy'
import { type ServiceContext, withTransaction } from '../context'
import { getManagedRole, namedPerson, requireAnotherOwner } from './find'
import { revokeInvitationsBy } from './invitations/revoke'

/**
 * Removes a member, effective from their next request. Things they created stay, API keys included; their invitation
 * links stop working.
 * @throws AppError NOT_FOUND, FORBIDDEN, CONFLICT for the last owner
 */
export async function removeMember(ctx: ServiceContext, { userId }: { userId: string }): Promise<{ userId: string }> {
  authorize(ctx, 'member:manage')
  return withTransaction(ctx, async (tx) => {
    const role = await getManagedRole(tx, userId)
    if (role === 'owner') await requireAnotherOwner(tx, userId)
    await tx.db.delete(members).where(and(eq(members.tenantId, tx.tenantId), eq(members.userId, userId)))
    await revokeInvitationsBy(tx, userId, null)
    await record(tx, 'member.removed', await namedPerson(tx, userId), { role })
    return { userId }
  })
}
