import { desc, eq } from 'drizzle-orm'
import { apiKeys } from '@/db/schema/keys'
import { authorize } from '../../auth/policy'
import type { ServiceContext } from '../../context'

/** The tenant's keys, newest first, without their values. */
export async function listApiKeys(ctx: ServiceContext) {
  authorize(ctx, 'key:manage')
  const { id, name, role, only, hint, createdBy, createdAt, lastUsedAt, disabledAt, rotatedFrom, graceUntil } = apiKeys
  return ctx.db
    .select({ id, name, role, only, hint, createdBy, createdAt, lastUsedAt, disabledAt, rotatedFrom, graceUntil })
    .from(apiKeys)
    .where(eq(apiKeys.tenantId, ctx.tenantId))
    .orderBy(desc(createdAt), desc(id))
}
