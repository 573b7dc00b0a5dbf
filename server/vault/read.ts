import { and, eq, inArray } from 'drizzle-orm'
import { vaultSecrets } from '@/db/schema/vault'
import type { ServiceContext } from '../context'
import { CannotOpen, open } from '../crypto'
import { vaultPlace } from './schema'

/** A tool names a secret that the vault cannot give. */
export class SecretMissing extends Error {
  override name = 'SecretMissing'
  constructor(readonly secrets: string[]) {
    super(`The vault has no secret ${secrets.join(', ')}.`)
  }
}

/**
 * The values behind names, for a call that is about to be made; never for an answer. Its caller masks what comes back.
 * @throws SecretMissing
 */
export async function readVaultSecrets(
  ctx: ServiceContext,
  names: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (names.length === 0) return new Map()
  const rows = await ctx.db
    .select({ name: vaultSecrets.name, sealed: vaultSecrets.sealed })
    .from(vaultSecrets)
    .where(and(eq(vaultSecrets.tenantId, ctx.tenantId), inArray(vaultSecrets.name, [...names])))
  const values = new Map<string, string>()
  for (const { name, sealed } of rows) {
    try {
      values.set(name, open(sealed, vaultPlace(ctx.tenantId, name)))
    } catch (err) {
      if (!(err instanceof CannotOpen)) throw err
      ctx.log.error({ err, secret: name }, 'a vault secret does not open: was ENCRYPTION_KEY changed?')
    }
  }
  const missing = names.filter((name) => !values.has(name))
  if (missing.length > 0) throw new SecretMissing([...new Set(missing)])
  return values
}
