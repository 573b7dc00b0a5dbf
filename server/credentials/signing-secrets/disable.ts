import { and, eq } from 'drizzle-orm'
import { signingSecrets } from '@/db/schema/secrets'
import { refuseRoleAboveOwn } from '../../auth/grant'
import { authorize } from '../../auth/policy'
import type { ServiceContext } from '../../context'
import { ROLES } from '../../roles'
import { getSigningSecret } from './find'

/**
 * Makes every process refuse its tokens from the next request on.
 * @throws AppError NOT_FOUND, FORBIDDEN
 */
export function disableSigningSecret(ctx: ServiceContext, id: string) {
  return setDisabled(ctx, id, ctx.now())
}

/** @throws AppError NOT_FOUND, FORBIDDEN */
export function enableSigningSecret(ctx: ServiceContext, id: string) {
  return setDisabled(ctx, id, null)
}

async function setDisabled(ctx: ServiceContext, id: string, disabledAt: Date | null) {
  authorize(ctx, 'secret:manage')
  const secret = await getSigningSecret(ctx, id)
  refuseRoleAboveOwn(ctx, ROLES.find((role) => role === secret.role) ?? 'viewer')
  await ctx.db
    .update(signingSecrets)
    .set({ disabledAt })
    .where(and(eq(signingSecrets.tenantId, secret.tenantId), eq(signingSecrets.id, id)))
  return { id, tenantId: secret.tenantId, disabled: disabledAt !== null }
}
