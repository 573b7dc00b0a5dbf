import { and, eq } from 'drizzle-orm'
import { vaultSecrets } from '@/db/schema/vault'
import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import { AppError } from '../errors'

/**
 * Deletes a secret. Tools that use it fail with SECRET_MISSING from now on.
 * @throws AppError NOT_FOUND
 */
export async function deleteVaultSecret(ctx: ServiceContext, name: string): Promise<{ name: string; deleted: true }> {
  authorize(ctx, 'secret:manage')
  const gone = await ctx.db
    .delete(vaultSecrets)
    .where(and(eq(vaultSecrets.tenantId, ctx.tenantId), eq(vaultSecrets.name, name)))
    .returning({ name: vaultSecrets.name })
  if (gone.length === 0) throw new AppError('NOT_FOUND', { details: [{ path: 'name', message: 'No such secret.' }] })
  return { name, deleted: true }
}
