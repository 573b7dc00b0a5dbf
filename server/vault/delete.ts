import { and, eq } from 'drizzle-orm'
import { vaultSecrets } from '@/db/schema/vault'
import { record } from '../audit/record'
import { authorize } from '../auth/policy'
import { type ServiceContext, withTransaction } from '../context'
import { noSuchSecret, requireName } from './schema'

/**
 * Deletes a secret. Tools that use it fail with SECRET_MISSING from now on.
 * @throws AppError NOT_FOUND
 */
export async function deleteVaultSecret(ctx: ServiceContext, name: string): Promise<{ name: string; deleted: true }> {
  authorize(ctx, 'secret:manage')
  requireName(name)
  return withTransaction(ctx, async (tx) => {
    const gone = await tx.db
      .delete(vaultSecrets)
      .where(and(eq(vaultSecrets.tenantId, tx.tenantId), eq(vaultSecrets.name, name)))
      .returning({ name: vaultSecrets.name })
    if (gone.length === 0) throw noSuchSecret()
    await record(tx, 'vaultSecret.deleted', { id: name, name })
    return { name, deleted: true }
  })
}
