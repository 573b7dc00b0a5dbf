import { and, eq } from 'drizzle-orm'
import { z } from 'zod'
import { invitations } from '@/db/schema/invitations'
import { members, users } from '@/db/schema/members'
import { record } from '../../audit/record'
import { Email } from '../../auth/new-user'
import { authorize } from '../../auth/policy'
import { type ServiceContext, withTransaction } from '../../context'
import { component } from '../../definition/component'
import { AppError } from '../../errors'
import { newId } from '../../ids'
import { parseInput } from '../../parse'
import { ROLES } from '../../roles'
import { authorizeMembersOf } from '../manage'
import { revokeOpen } from './revoke'
import { INVITATION_MS, newInvitationToken } from './token'

/** The person to invite. */
export const Invite = component('Invite', {
  email: Email.describe('Whom to invite.'),
  role: z.enum(ROLES).describe('What they may do, at most what the caller may give out.'),
})
export type InviteInput = z.input<typeof Invite>

/** A link that is shown once; no mail is sent. */
export interface MadeInvitation {
  id: string
  email: string
  /** The token in the link `/invite/:token`. */
  token: string
  expiresAt: string
}

/**
 * Invites a person. Revokes an earlier open invitation for the same address, so each person has one link.
 * @throws AppError INVALID_INPUT, FORBIDDEN, CONFLICT for someone who is already a member
 */
export async function createInvitation(ctx: ServiceContext, input: unknown): Promise<MadeInvitation> {
  authorize(ctx, 'member:manage')
  const { email, role } = parseInput(Invite, input)
  authorizeMembersOf(ctx, role)
  return withTransaction(ctx, async (tx) => {
    const { tenantId } = tx
    const [member] = await tx.db
      .select({ userId: members.userId })
      .from(members)
      .innerJoin(users, eq(users.id, members.userId))
      .where(and(eq(members.tenantId, tenantId), eq(users.email, email)))
    if (member) {
      const message = 'Already a member'
      throw new AppError('CONFLICT', { message, details: [{ path: 'email', message }] })
    }
    const now = tx.now()
    await revokeOpen(tx, eq(invitations.email, email))
    const { token, tokenHash } = newInvitationToken()
    const id = newId('inv')
    const expiresAt = new Date(now.getTime() + INVITATION_MS)
    const row = { tenantId, id, email, role, tokenHash, createdBy: tx.actor.id, createdAt: now, expiresAt }
    await tx.db.insert(invitations).values(row)
    await record(tx, 'invitation.created', { id, name: email }, { role })
    return { id, email, token, expiresAt: expiresAt.toISOString() }
  })
}
