import { and, desc, eq, isNull } from 'drizzle-orm'
import { invitations } from '@/db/schema/invitations'
import { users } from '@/db/schema/members'
import { authorize } from '../../auth/policy'
import type { ServiceContext } from '../../context'
import { type Role, roleOf } from '../../roles'

export interface PendingInvitation {
  id: string
  email: string
  role: Role
  createdAt: string
  /** The person who created it; null for an API key or a deleted person. */
  invitedBy: string | null
  expiresAt: string
  expired: boolean
}

/** The tenant's invitations that are neither accepted nor revoked, newest first. */
export async function listInvitations(ctx: ServiceContext): Promise<PendingInvitation[]> {
  authorize(ctx, 'member:manage')
  const rows = await ctx.db
    .select({ invitation: invitations, invitedBy: users.name })
    .from(invitations)
    .leftJoin(users, eq(users.id, invitations.createdBy))
    .where(and(eq(invitations.tenantId, ctx.tenantId), isNull(invitations.acceptedAt), isNull(invitations.revokedAt)))
    .orderBy(desc(invitations.createdAt), desc(invitations.id))
  const now = ctx.now()
  return rows.map(({ invitation, invitedBy }) => ({
    id: invitation.id,
    email: invitation.email,
    role: roleOf(invitation.role),
    createdAt: invitation.createdAt.toISOString(),
    invitedBy,
    expiresAt: invitation.expiresAt.toISOString(),
    expired: invitation.expiresAt <= now,
  }))
}
