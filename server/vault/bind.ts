import { and, eq } from 'drizzle-orm'
import { z } from 'zod'
import { vaultSecrets } from '@/db/schema/vault'
import { record } from '../audit/record'
import { authorize } from '../auth/policy'
import { type ServiceContext, withTransaction } from '../context'
import { parseInput } from '../parse'
import { SecretHosts } from './hosts'
import { noSuchSecret, requireName } from './schema'

export const BindSecret = z.object({
  name: z.string(),
  hosts: SecretHosts.describe(
    'Where it may be sent, such as `api.example.com`, `*.example.com` or `api.example.com:8443`.',
  ),
})

/**
 * Binds a secret to these hosts only; its value stays. The permission is the one for setting secrets, because its
 * holder could send the value to a host of their own. A bound secret can get other hosts, but cannot be unbound.
 * @throws AppError INVALID_INPUT, NOT_FOUND
 */
export async function bindVaultSecret(ctx: ServiceContext, input: unknown): Promise<{ name: string; hosts: string[] }> {
  authorize(ctx, 'secret:manage')
  const { name, hosts } = parseInput(BindSecret, input)
  requireName(name)
  return withTransaction(ctx, async (tx) => {
    const bound = await tx.db
      .update(vaultSecrets)
      .set({ hosts, updatedBy: tx.actor.id, updatedAt: tx.now() })
      .where(and(eq(vaultSecrets.tenantId, tx.tenantId), eq(vaultSecrets.name, name)))
      .returning({ name: vaultSecrets.name })
    if (bound.length === 0) throw noSuchSecret()
    await record(tx, 'vaultSecret.bound', { id: name, name }, { hosts })
    return { name, hosts }
  })
}
