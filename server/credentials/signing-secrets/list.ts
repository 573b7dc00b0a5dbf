import { desc, eq } from 'drizzle-orm'
import { signingSecrets } from '@/db/schema/secrets'
import { authorize } from '../../auth/policy'
import type { ServiceContext } from '../../context'

/** The tenant's signing secrets, newest first, without their values. */
export async function listSigningSecrets(ctx: ServiceContext) {
  authorize(ctx, 'secret:manage')
  const { id, name, role, workflowIds, agentIds, ownRuns } = signingSecrets
  const { createdBy, createdAt, disabledAt, lastUsedAt, longLivedAt, rotatedFrom, graceUntil } = signingSecrets
  return ctx.db
    .select({
      ...{ id, name, role, workflowIds, agentIds, ownRuns },
      ...{ createdBy, createdAt, disabledAt, lastUsedAt, longLivedAt, rotatedFrom, graceUntil },
    })
    .from(signingSecrets)
    .where(eq(signingSecrets.tenantId, ctx.tenantId))
    .orderBy(desc(createdAt), desc(id))
}
