import { and, eq } from 'drizzle-orm'
import { apiKeys } from '@/db/schema/keys'
import { refuseRoleAboveOwn } from '../../auth/grant'
import { authorize } from '../../auth/policy'
import type { ServiceContext } from '../../context'
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
  const key = await getApiKey(ctx, id)
  refuseRoleAboveOwn(ctx, ROLES.find((role) => role === key.role) ?? 'viewer')
  await ctx.db
    .update(apiKeys)
    .set({ disabledAt })
    .where(and(eq(apiKeys.tenantId, key.tenantId), eq(apiKeys.id, id)))
  return { id, tenantId: key.tenantId, disabled: disabledAt !== null }
}
