import { and, eq } from 'drizzle-orm'
import { apiKeys } from '@/db/schema/keys'
import { authorize } from '../auth/policy'
import { ROLES, type ServiceContext, withTransaction } from '../context'
import { createApiKey } from './create'
import { getApiKey } from './find'

const DEFAULT_GRACE_MS = 24 * 60 * 60_000

/**
 * A new key in place of an old one, which works until the grace is over (24 h unless given).
 * @throws AppError NOT_FOUND, FORBIDDEN
 */
export async function rotateApiKey(ctx: ServiceContext, id: string, graceMs: number = DEFAULT_GRACE_MS) {
  authorize(ctx, 'key:manage')
  return withTransaction(ctx, async (tx) => {
    const old = await getApiKey(tx, id)
    const graceUntil = new Date(tx.now().getTime() + graceMs)
    await tx.db
      .update(apiKeys)
      .set({ graceUntil })
      .where(and(eq(apiKeys.tenantId, old.tenantId), eq(apiKeys.id, id)))
    const role = ROLES.find((name) => name === old.role) ?? 'viewer'
    const created = await createApiKey({ ...tx, tenantId: old.tenantId }, { name: old.name, role, rotatedFrom: id })
    return { ...created, rotatedFrom: id, graceUntil: graceUntil.toISOString() }
  })
}
