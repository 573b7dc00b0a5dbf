import { and, eq } from 'drizzle-orm'
import { invitations } from '@/db/schema/invitations'
import { record } from '../../audit/record'
import { authorize } from '../../auth/policy'
import { type ServiceContext, withTransaction } from '../../context'
import type { MadeInvitation } from './create'
import { getPendingInvitation } from './find'
import { INVITATION_MS, newInvitationToken } from './token'

/**
 * Creates a new link for an open or expired invitation; the old one stops working.
 * @throws AppError NOT_FOUND, FORBIDDEN, CONFLICT once it was accepted or revoked
 */
export async function renewInvitation(ctx: ServiceContext, id: string): Promise<MadeInvitation> {
  authorize(ctx, 'member:manage')
  return withTransaction(ctx, async (tx) => {
    const { email } = await getPendingInvitation(tx, id)
    const { token, tokenHash } = newInvitationToken()
    const expiresAt = new Date(tx.now().getTime() + INVITATION_MS)
    await tx.db
      .update(invitations)
      // The person who renews the link becomes its sender.
      .set({ tokenHash, expiresAt, createdBy: tx.actor.id })
      .where(and(eq(invitations.tenantId, tx.tenantId), eq(invitations.id, id)))
    await record(tx, 'invitation.renewed', { id, name: email })
    return { id, email, token, expiresAt: expiresAt.toISOString() }
  })
}
