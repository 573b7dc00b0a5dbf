import { and, eq } from 'drizzle-orm'
import { apiKeys } from '@/db/schema/keys'
import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import { getApiKey } from './find'

/** Refused from the very next request on, in every process. @throws AppError NOT_FOUND */
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
  await ctx.db
    .update(apiKeys)
    .set({ disabledAt })
    .where(and(eq(apiKeys.tenantId, key.tenantId), eq(apiKeys.id, id)))
  return { id, tenantId: key.tenantId, disabled: disabledAt !== null }
}
