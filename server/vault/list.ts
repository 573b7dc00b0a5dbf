import { asc, eq } from 'drizzle-orm'
import { vaultSecrets } from '@/db/schema/vault'
import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import { openValue } from './open'
import { isTooShort } from './schema'

/** The names of the tenant's secrets and the hosts each is bound to, without values. */
export async function listVaultSecrets(ctx: ServiceContext) {
  authorize(ctx, 'secret:manage')
  const rows = await ctx.db
    .select()
    .from(vaultSecrets)
    .where(eq(vaultSecrets.tenantId, ctx.tenantId))
    .orderBy(asc(vaultSecrets.name))
  return rows.map(({ tenantId: _tenantId, sealed, ...shown }) => {
    const value = openValue(ctx, { name: shown.name, sealed })
    // Set before short values were rejected.
    return { ...shown, short: value !== null && isTooShort(value) }
  })
}
