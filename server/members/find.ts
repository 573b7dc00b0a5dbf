import { and, eq } from 'drizzle-orm'
import { members } from '@/db/schema/members'
import type { TransactionContext } from '../context'
import { AppError } from '../errors'
import { isId } from '../ids'
import { type Role, roleOf } from '../roles'
import { authorizeMembersOf } from './manage'

/**
 * The role of a member whom the caller may manage. The tenant's owners are locked, so that of two changes at once the
 * later sees what the earlier did.
 * @throws AppError NOT_FOUND, FORBIDDEN
 */
export async function getManagedRole(tx: TransactionContext, userId: string): Promise<Role> {
  await lockOwners(tx)
  const [row] = isId(userId)
    ? await tx.db
        .select({ role: members.role })
        .from(members)
        .where(and(eq(members.tenantId, tx.tenantId), eq(members.userId, userId)))
    : []
  if (!row) throw new AppError('NOT_FOUND', { message: 'Member not found' })
  const role = roleOf(row.role)
  authorizeMembersOf(tx, role)
  return role
}

/** Of two who take an owner away at once, the later sees what the earlier did. */
export async function lockOwners(tx: TransactionContext): Promise<void> {
  await tx.db
    .select({ userId: members.userId })
    .from(members)
    .where(and(eq(members.tenantId, tx.tenantId), eq(members.role, 'owner')))
    .orderBy(members.userId)
    .for('update')
}

/** @throws AppError CONFLICT when nobody would be left who owns the tenant */
export async function requireAnotherOwner(tx: TransactionContext, userId: string): Promise<void> {
  const owners = await tx.db
    .select({ userId: members.userId })
    .from(members)
    .where(and(eq(members.tenantId, tx.tenantId), eq(members.role, 'owner')))
  if (owners.some((owner) => owner.userId !== userId)) return
  throw new AppError('CONFLICT', { message: 'A workspace needs an owner: make somebody else one first' })
}
