import { eq } from 'drizzle-orm'
import { vaultSecrets } from '@/db/schema/vault'
import type { ServiceContext } from '../context'
import { type Masker, maskerOf } from './mask'
import { openValue } from './open'

/** A masker for all values in the tenant's vault, used for everything screens show of runs. */
export async function tenantMasker(ctx: ServiceContext): Promise<Masker> {
  const rows = await ctx.db
    .select({ name: vaultSecrets.name, sealed: vaultSecrets.sealed })
    .from(vaultSecrets)
    .where(eq(vaultSecrets.tenantId, ctx.tenantId))
  return maskerOf(rows.flatMap((row) => openValue(ctx, row) ?? []))
}
