import { and, eq } from 'drizzle-orm'
import { signingSecrets } from '@/db/schema/secrets'
import { record } from '../../audit/record'
import { refuseRoleAboveOwn } from '../../auth/grant'
import { authorize } from '../../auth/policy'
import { type ServiceContext, withTransaction } from '../../context'
import { ROLES } from '../../roles'
import { getSigningSecret } from './find'

/**
 * Makes every process reject its tokens from the next request on.
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
  return withTransaction(ctx, async (tx) => {
    const secret = await getSigningSecret(tx, id, { lock: true })
    refuseRoleAboveOwn(tx, ROLES.find((role) => role === secret.role) ?? 'viewer')
    const disabled = disabledAt !== null
    await tx.db
      .update(signingSecrets)
      .set({ disabledAt })
      .where(and(eq(signingSecrets.tenantId, secret.tenantId), eq(signingSecrets.id, id)))
    if (disabled !== (secret.disabledAt !== null))
      await record(tx, disabled ? 'signingSecret.disabled' : 'signingSecret.enabled', secret)
    return { id, tenantId: secret.tenantId, disabled }
  })
}
