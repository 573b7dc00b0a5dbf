import { eq, type SQL, sql } from 'drizzle-orm'
import { vaultSecrets } from '@/db/schema/vault'
import type { ServiceContext } from '../context'
import { type Masker, maskerOf } from './mask'
import { openValue } from './open'

/** A masker for all values in the tenant's vault, used for all views of runs. */
export async function tenantMasker(ctx: ServiceContext): Promise<Masker> {
  const rows = await ctx.db
    .select({ name: vaultSecrets.name, sealed: vaultSecrets.sealed })
    .from(vaultSecrets)
    .where(eq(vaultSecrets.tenantId, ctx.tenantId))
  return maskerFrom(ctx, rows)
}

/** The same, from a vault that was read together with the data to mask: see `sealedVault`. */
export function maskerFrom(ctx: ServiceContext, rows: SealedSecret[]): Masker {
  return maskerOf(rows.flatMap((row) => openValue(ctx, row) ?? []))
}

export type SealedSecret = Pick<typeof vaultSecrets.$inferSelect, 'name' | 'sealed'>

/** A tenant's whole vault, sealed, as a column of another read. */
export function sealedVault(tenantId: SQL): SQL<SealedSecret[]> {
  return sql`(select coalesce(json_agg(json_build_object('name', v.name, 'sealed', v.sealed)), '[]'::json)
    from ${vaultSecrets} v where v.tenant_id = ${tenantId})`
}
