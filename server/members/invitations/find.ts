import { and, eq } from 'drizzle-orm'
import { invitations } from '@/db/schema/invitations'
import type { TransactionContext } from '../../context'
import { AppError } from '../../errors'
import { isId } from '../../ids'
import { roleOf } from '../../roles'
import { authorizeMembersOf } from '../manage'

/**
 * An invitation of the caller's tenant that is neither accepted nor revoked, locked.
 * @throws AppError NOT_FOUND, CONFLICT, FORBIDDEN if the caller may not give out its role
 */
export async function getPendingInvitation(tx: TransactionContext, id: string) {
  const [row] = isId(id)
    ? await tx.db
        .select()
        .from(invitations)
        .where(and(eq(invitations.tenantId, tx.tenantId), eq(invitations.id, id)))
        .for('update')
    : []
  if (!row) throw new AppError('NOT_FOUND', { message: 'Not found: no invitation has this id' })
  authorizeMembersOf(tx, roleOf(row.role))
  if (row.acceptedAt) throw new AppError('CONFLICT', { message: 'The invitation has already been accepted' })
  if (row.revokedAt) throw new AppError('CONFLICT', { message: 'The invitation has been revoked' })
  return row
}
