import { and, eq, inArray } from 'drizzle-orm'
import { vaultSecrets } from '@/db/schema/vault'
import type { ServiceContext } from '../context'
import { type Binding, refuseElsewhere } from './hosts'
import { openValue } from './open'

/** A tool uses a secret that is not in the vault or cannot be decrypted. */
export class SecretMissing extends Error {
  override name = 'SecretMissing'
  constructor(readonly secrets: string[]) {
    super(`The vault has no secret ${secrets.join(', ')}.`)
  }
}

/** The values of secrets, and the hosts they may be sent to. */
export interface OpenSecrets {
  values: ReadonlyMap<string, string>
  /**
   * Must be called for every URL these values are sent to, redirects included.
   * @param inTheOpen the call would go over plain `http` to the public internet
   * @throws OutboundFailure SECRET_NOT_ALLOWED
   */
  check(url: URL, inTheOpen?: boolean): void
}

/**
 * The values of secrets, for a call about to be made; never for an answer. The caller must call `check` before sending
 * them anywhere, and mask the response.
 * @throws SecretMissing
 */
export async function readVaultSecrets(ctx: ServiceContext, names: readonly string[]): Promise<OpenSecrets> {
  const rows =
    names.length === 0
      ? []
      : await ctx.db
          .select({ name: vaultSecrets.name, sealed: vaultSecrets.sealed, hosts: vaultSecrets.hosts })
          .from(vaultSecrets)
          .where(and(eq(vaultSecrets.tenantId, ctx.tenantId), inArray(vaultSecrets.name, [...names])))
  const values = new Map<string, string>()
  const bindings: Binding[] = []
  for (const row of rows) {
    const value = openValue(ctx, row)
    if (value === null) continue
    // Until it is set again, one may have the blanks that it was pasted with.
    values.set(row.name, value.trim())
    bindings.push(row)
  }
  const missing = names.filter((name) => !values.has(name))
  if (missing.length > 0) throw new SecretMissing([...new Set(missing)])
  return { values, check: (url, inTheOpen) => refuseElsewhere(bindings, url, inTheOpen) }
}
