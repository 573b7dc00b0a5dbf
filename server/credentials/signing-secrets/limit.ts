import { and, eq } from 'drizzle-orm'
import { signingSecrets } from '@/db/schema/secrets'
import { record } from '../../audit/record'
import { refuseRoleAboveOwn } from '../../auth/grant'
import { authorize } from '../../auth/policy'
import { type ServiceContext, withTransaction } from '../../context'
import { differences } from '../../definition/audit'
import { parseInput } from '../../parse'
import { getSigningSecret } from './find'
import { NewLimits, requireLimits } from './limits'

/**
 * Replaces the limits of the secret's tokens, including those already issued, from their next request on.
 * @throws AppError NOT_FOUND, FORBIDDEN, INVALID_INPUT
 */
export async function limitSigningSecret(ctx: ServiceContext, { id, limits }: { id: string; limits: unknown }) {
  authorize(ctx, 'secret:manage')
  return withTransaction(ctx, async (tx) => {
    const secret = await getSigningSecret(tx, id, { lock: true })
    refuseRoleAboveOwn(tx, secret.role)
    const wanted = parseInput(NewLimits, limits)
    await requireLimits(tx, wanted, secret.role)
    await tx.db
      .update(signingSecrets)
      .set(wanted)
      .where(and(eq(signingSecrets.tenantId, secret.tenantId), eq(signingSecrets.id, id)))
    await record(tx, 'signingSecret.limited', secret, differences(secret, wanted))
    return { id, tenantId: secret.tenantId, ...wanted }
  })
}
