import { and, eq } from 'drizzle-orm'
import { signingSecrets } from '@/db/schema/secrets'
import { refuseRoleAboveOwn } from '../../auth/grant'
import { authorize } from '../../auth/policy'
import type { ServiceContext } from '../../context'
import { parseInput } from '../../parse'
import { getSigningSecret } from './find'
import { requireLimits, SecretLimits } from './limits'

/**
 * Replaces what tokens of the secret may touch. It applies to tokens already issued from their next request on.
 * @throws AppError NOT_FOUND, FORBIDDEN, INVALID_INPUT
 */
export async function limitSigningSecret(ctx: ServiceContext, { id, limits }: { id: string; limits: unknown }) {
  authorize(ctx, 'secret:manage')
  const wanted = parseInput(SecretLimits, limits)
  const secret = await getSigningSecret(ctx, id)
  refuseRoleAboveOwn(ctx, secret.role)
  await requireLimits(ctx, wanted, secret.role)
  await ctx.db
    .update(signingSecrets)
    .set(wanted)
    .where(and(eq(signingSecrets.tenantId, secret.tenantId), eq(signingSecrets.id, id)))
  return { id, tenantId: secret.tenantId, ...wanted }
}
