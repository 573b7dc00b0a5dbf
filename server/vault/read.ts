import { and, eq, inArray } from 'drizzle-orm'
import { vaultSecrets } from '@/db/schema/vault'
import type { ServiceContext } from '../context'
import { CannotOpen, open } from '../crypto'
import { vaultPlace } from './schema'

/** A tool uses a secret that is not in the vault or cannot be decrypted. */
export class SecretMissing extends Error {
  override name = 'SecretMissing'
  constructor(readonly secrets: string[]) {
    super(`The vault has no secret ${secrets.join(', ')}.`)
  }
}

/**
 * The values of secrets, for a call about to be made; never for an answer. The caller must mask what comes back.
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
      ctx.log.error({ err, secret: name }, 'cannot decrypt a vault secret: was ENCRYPTION_KEY changed?')
    }
  }
  const missing = names.filter((name) => !values.has(name))
  if (missing.length > 0) throw new SecretMissing([...new Set(missing)])
  return values
}
