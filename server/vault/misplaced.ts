import { and, eq, inArray } from 'drizzle-orm'
import { vaultSecrets } from '@/db/schema/vault'
import { isAddress, isPublicAddress } from '@/lib/ip'
import type { ServiceContext } from '../context'
import type { ErrorDetail } from '../errors'
import { targetOf } from '../net/vet'
import { mayReceive, notBound, notEncrypted } from './hosts'

/** The secrets a definition sends to an address, if the address is known when it is saved. */
export interface SecretUse {
  names: readonly string[]
  url: URL
  /** The field to report when a secret may not be sent there. */
  path: string
}

/** Reports the secrets that are not bound to the host they would be sent to. Secrets that do not exist yet pass. */
export async function misplacedSecrets(ctx: ServiceContext, use: SecretUse | null): Promise<ErrorDetail[]> {
  if (use === null || use.names.length === 0) return []
  const { name, hosts } = vaultSecrets
  const rows = await ctx.db
    .select({ name, hosts })
    .from(vaultSecrets)
    .where(and(eq(vaultSecrets.tenantId, ctx.tenantId), inArray(name, [...use.names])))
    .orderBy(name)
  return rows.flatMap((row) => {
    const refused = !mayReceive(row, use.url) ? notBound : isInTheOpen(use.url) ? notEncrypted : null
    return refused ? [{ path: use.path, code: 'SECRET_NOT_ALLOWED', message: refused(row.name, use.url) }] : []
  })
}

/** Whether that is certain without a lookup: a name may resolve to a private address, which only the call finds out. */
function isInTheOpen(url: URL): boolean {
  const { host } = targetOf(url)
  return url.protocol === 'http:' && isAddress(host) && isPublicAddress(host)
}
