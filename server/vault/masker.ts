import { eq } from 'drizzle-orm'
import { vaultSecrets } from '@/db/schema/vault'
import type { ServiceContext } from '../context'
import { CannotOpen, open } from '../crypto'
import { type Masker, maskerOf } from './mask'
import { vaultPlace } from './schema'

/** A masker for every value of the tenant's vault, for what screens show of runs. */
export async function tenantMasker(ctx: ServiceContext): Promise<Masker> {
  const rows = await ctx.db
    .select({ name: vaultSecrets.name, sealed: vaultSecrets.sealed })
    .from(vaultSecrets)
    .where(eq(vaultSecrets.tenantId, ctx.tenantId))
  return maskerOf(
    rows.flatMap(({ name, sealed }) => {
      try {
        return [open(sealed, vaultPlace(ctx.tenantId, name))]
      } catch (err) {
        if (!(err instanceof CannotOpen)) throw err
        ctx.log.error({ err, secret: name }, 'a vault secret does not open: was ENCRYPTION_KEY changed?')
        return []
      }
    }),
  )
}
