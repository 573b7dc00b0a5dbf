import { asc, eq } from 'drizzle-orm'
import { vaultSecrets } from '@/db/schema/vault'
import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'

/** The names of the tenant's secrets, without values. */
export async function listVaultSecrets(ctx: ServiceContext) {
  authorize(ctx, 'secret:manage')
  const { name, createdBy, updatedBy, createdAt, updatedAt } = vaultSecrets
  return ctx.db
    .select({ name, createdBy, updatedBy, createdAt, updatedAt })
    .from(vaultSecrets)
    .where(eq(vaultSecrets.tenantId, ctx.tenantId))
    .orderBy(asc(name))
}
