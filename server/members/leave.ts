import { and, eq } from 'drizzle-orm'
import { members } from '@/db/schema/members'
import { record } from '../audit/record'
import { type ServiceContext, withTransaction } from '../context'
import { AppError } from '../errors'
import { lockOwners, namedPerson, requireAnotherOwner } from './find'
import { revokeInvitationsBy } from './invitations/revoke'

/**
 * Removes the caller from the tenant; every role may leave. Things they created stay, API keys included.
 * @throws AppError FORBIDDEN for a caller that is not a person, CONFLICT for the last owner
 */
export async function leaveTenant(ctx: ServiceContext): Promise<{ userId: string }> {
  const { actor } = ctx
  if (actor.kind !== 'user') throw new AppError('FORBIDDEN')
  const userId = actor.id
  return withTransaction(ctx, async (tx) => {
    await lockOwners(tx)
    const mine = and(eq(members.tenantId, tx.tenantId), eq(members.userId, userId))
    const [row] = await tx.db.select({ role: members.role }).from(members).where(mine)
    if (row?.role === 'owner') await requireAnotherOwner(tx, userId)
    await tx.db.delete(members).where(mine)
    await revokeInvitationsBy(tx, userId, null)
    await record(tx, 'member.left', await namedPerson(tx, userId), { role: row?.role ?? null })
    return { userId }
  })
}
