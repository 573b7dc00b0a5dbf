import { and, eq } from 'drizzle-orm'
import { apiKeys } from '@/db/schema/keys'
import { record } from '../../audit/record'
import { refuseRoleAboveOwn } from '../../auth/grant'
import { authorize } from '../../auth/policy'
import { type ServiceContext, withTransaction } from '../../context'
import { ROLES } from '../../roles'
import { getApiKey } from './find'

/**
 * Disables a key in every process, from the next request on.
 * @throws AppError NOT_FOUND, FORBIDDEN
 */
export function disableApiKey(ctx: ServiceContext, id: string) {
  return setDisabled(ctx, id, ctx.now())
}

/** @throws AppError NOT_FOUND */
export function enableApiKey(ctx: ServiceContext, id: string) {
  return setDisabled(ctx, id, null)
}

async function setDisabled(ctx: ServiceContext, id: string, disabledAt: Date | null) {
  authorize(ctx, 'key:manage')
  return withTransaction(ctx, async (tx) => {
    const key = await getApiKey(tx, id, { lock: true })
    refuseRoleAboveOwn(tx, ROLES.find((role) => role === key.role) ?? 'viewer')
    const disabled = disabledAt !== null
    await tx.db
      .update(apiKeys)
      .set({ disabledAt })
      .where(and(eq(apiKeys.tenantId, key.tenantId), eq(apiKeys.id, id)))
    if (disabled !== (key.disabledAt !== null)) await record(tx, disabled ? 'apiKey.disabled' : 'apiKey.enabled', key)
    return { id, tenantId: key.tenantId, disabled }
  })
}
