import { and, eq, inArray } from 'drizzle-orm'
import { vaultSecrets } from '@/db/schema/vault'
import type { ServiceContext } from '../context'
import { type Binding, refuseElsewhere } from './hosts'
import { openValue } from './open'

/** A tool names a secret that the vault cannot give. */
export class SecretMissing extends Error {
  override name = 'SecretMissing'
  constructor(readonly secrets: string[]) {
    super(`The vault has no secret ${secrets.join(', ')}.`)
  }
}

/** The values behind names, and where they may go. */
export interface OpenSecrets {
  values: ReadonlyMap<string, string>
  /**
   * Asked of every address that a call with these values goes to, redirects included.
   * @throws OutboundFailure SECRET_NOT_ALLOWED
   */
  check(url: URL): void
}

/**
 * The values behind names, for a call that is about to be made; never for an answer. Its caller asks `check` before it
 * sends anything, and masks what comes back.
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
    values.set(row.name, value)
    bindings.push(row)
  }
  const missing = names.filter((name) => !values.has(name))
  if (missing.length > 0) throw new SecretMissing([...new Set(missing)])
  return { values, check: (url) => refuseElsewhere(bindings, url) }
}
