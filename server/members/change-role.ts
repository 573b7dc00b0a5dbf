import { and, eq } from 'drizzle-orm'
import { z } from 'zod'
import { members } from '@/db/schema/members'
import { record } from '../audit/record'
import { authorize } from '../auth/policy'
import { type ServiceContext, withTransaction } from '../context'
import { parseInput } from '../parse'
import { compareRoles, ROLES, type Role } from '../roles'
import { getManagedRole, namedPerson, requireAnotherOwner } from './find'
import { revokeInvitationsBy } from './invitations/revoke'
import { authorizeMembersOf } from './manage'

export const ChangeRole = z.object({ userId: z.string().max(80), role: z.enum(ROLES).describe('What they may do.') })
export type ChangeRoleInput = z.input<typeof ChangeRole>

/**
 * Changes a member's role, effective from the next request.
 * @throws AppError INVALID_INPUT, NOT_FOUND, FORBIDDEN, CONFLICT for the last owner
 */
export async function changeRole(ctx: ServiceContext, input: unknown): Promise<{ userId: string; role: Role }> {
  authorize(ctx, 'member:manage')
  const { userId, role } = parseInput(ChangeRole, input)
  authorizeMembersOf(ctx, role)
  return withTransaction(ctx, async (tx) => {
    const before = await getManagedRole(tx, userId)
    if (before === 'owner' && role !== 'owner') await requireAnotherOwner(tx, userId)
    await tx.db
      .update(members)
      .set({ role })
      .where(and(eq(members.tenantId, tx.tenantId), eq(members.userId, userId)))
    if (compareRoles(role, before) < 0) await revokeInvitationsBy(tx, userId, role)
    if (role !== before)
      await record(tx, 'member.roleChanged', await namedPerson(tx, userId), { role: { from: before, to: role } })
    return { userId, role }
  })
}
