import { sql } from 'drizzle-orm'
import { vaultSecrets } from '@/db/schema/vault'
import { record } from '../audit/record'
import { authorize } from '../auth/policy'
import { type ServiceContext, withTransaction } from '../context'
import { seal } from '../crypto'
import { parseInput } from '../parse'
import { SetSecret, vaultPlace } from './schema'

/**
 * Stores a secret, replacing an earlier one with this name. Its value is never shown again. Without `hosts`, a new
 * secret is unbound and an existing one keeps its hosts.
 * @returns whether the name is new
 * @throws AppError INVALID_INPUT
 */
export async function setVaultSecret(ctx: ServiceContext, input: unknown): Promise<{ name: string; created: boolean }> {
  authorize(ctx, 'secret:manage')
  const { name, value, hosts } = parseInput(SetSecret, input)
  const now = ctx.now()
  const change = {
    sealed: seal(value, vaultPlace(ctx.tenantId, name)),
    ...(hosts ? { hosts } : {}),
    updatedBy: ctx.actor.id,
    updatedAt: now,
  }
  return withTransaction(ctx, async (tx) => {
    const [row] = await tx.db
      .insert(vaultSecrets)
      .values({ tenantId: tx.tenantId, name, ...change, createdBy: tx.actor.id, createdAt: now })
      .onConflictDoUpdate({ target: [vaultSecrets.tenantId, vaultSecrets.name], set: change })
      // Postgres sets xmax to the updating transaction only for a row that existed before.
      .returning({ created: sql<boolean>`xmax = 0` })
    const created = row?.created ?? false
    await record(tx, 'vaultSecret.set', { id: name, name }, { new: created, ...(hosts ? { hosts } : {}) })
    return { name, created }
  })
}
