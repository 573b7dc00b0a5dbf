import { and, eq, inArray, isNull, type SQL } from 'drizzle-orm'
import { invitations } from '@/db/schema/invitations'
import { record } from '../../audit/record'
import { authorize, may } from '../../auth/policy'
import { type ServiceContext, type TransactionContext, withTransaction } from '../../context'
import { compareRoles, ROLES, type Role } from '../../roles'
import { getPendingInvitation } from './find'

/**
 * Revokes an invitation that nobody has accepted.
 * @throws AppError NOT_FOUND, FORBIDDEN, CONFLICT
 */
export async function revokeInvitation(ctx: ServiceContext, id: string): Promise<{ id: string }> {
  authorize(ctx, 'member:manage')
  return withTransaction(ctx, async (tx) => {
    const { email } = await getPendingInvitation(tx, id)
    await tx.db
      .update(invitations)
      .set({ revokedAt: tx.now() })
      .where(and(eq(invitations.tenantId, tx.tenantId), eq(invitations.id, id)))
    await record(tx, 'invitation.revoked', { id, name: email })
    return { id }
  })
}

/** Revokes the open invitations of a person who may no longer give out their roles. */
export async function revokeInvitationsBy(tx: TransactionContext, userId: string, role: Role | null): Promise<void> {
  const lost = ROLES.filter((given) => {
    if (role === null) return true
    return !may(role, compareRoles(given, 'admin') >= 0 ? 'member:manage-admin' : 'member:manage')
  })
  if (lost.length === 0) return
  await revokeOpen(tx, and(eq(invitations.createdBy, userId), inArray(invitations.role, lost)))
}

/** Revokes the invitations of the tenant that nobody has accepted and for which the condition is true. */
export async function revokeOpen(tx: TransactionContext, where: SQL | undefined): Promise<void> {
  const revoked = await tx.db
    .update(invitations)
    .set({ revokedAt: tx.now() })
    .where(
      and(eq(invitations.tenantId, tx.tenantId), where, isNull(invitations.acceptedAt), isNull(invitations.revokedAt)),
    )
    .returning({ id: invitations.id, email: invitations.email })
  for (const { id, email } of revoked) await record(tx, 'invitation.revoked', { id, name: email })
}
