import { eq } from 'drizzle-orm'
import { vaultSecrets } from '@/db/schema/vault'
import type { ServiceContext } from '../context'
import { CannotOpen, open } from '../crypto'
import { type Masker, maskerOf } from './mask'
import { vaultPlace } from './schema'

/** A masker for all values in the tenant's vault, used for everything screens show of runs. */
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
        ctx.log.error({ err, secret: name }, 'cannot decrypt a vault secret: was ENCRYPTION_KEY changed?')
        return []
      }
    }),
  )
}
