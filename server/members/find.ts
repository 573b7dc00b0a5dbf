import { and, eq } from 'drizzle-orm'
import { members, users } from '@/db/schema/members'
import type { TransactionContext } from '../context'
import { AppError } from '../errors'
import { isId } from '../ids'
import { type Role, roleOf } from '../roles'
import { authorizeMembersOf } from './manage'

/**
 * The role of a member the caller may manage. Locks the tenant's owners, so the later of two concurrent changes sees
 * the earlier one.
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
  if (!row) throw new AppError('NOT_FOUND', { message: 'Not found: no member has this id' })
  const role = roleOf(row.role)
  authorizeMembersOf(tx, role)
  return role
}

/** A person's name in the audit log. */
export async function namedPerson({ db }: Pick<TransactionContext, 'db'>, userId: string) {
  const [row] = await db.select({ email: users.email }).from(users).where(eq(users.id, userId))
  return { id: userId, name: row?.email ?? userId }
}

/**
 * Locks the tenant's owners: if two requests each remove an owner, the later sees the earlier one's change. It
 * lets through a request that sets the members of a group: that one locks members in another order, so each could wait
 * for the other.
 */
export async function lockOwners(tx: TransactionContext): Promise<void> {
  await tx.db
    .select({ userId: members.userId })
    .from(members)
    .where(and(eq(members.tenantId, tx.tenantId), eq(members.role, 'owner')))
    .orderBy(members.userId)
    .for('no key update')
}

/** @throws AppError CONFLICT if the tenant would have no owner left */
export async function requireAnotherOwner(tx: TransactionContext, userId: string): Promise<void> {
  const owners = await tx.db
    .select({ userId: members.userId })
    .from(members)
    .where(and(eq(members.tenantId, tx.tenantId), eq(members.role, 'owner')))
  if (owners.some((owner) => owner.userId !== userId)) return
  throw new AppError('CONFLICT', { message: 'A workspace needs an owner: make another member an owner first' })
}
