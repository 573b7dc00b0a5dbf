import { sql } from 'drizzle-orm'
import { vaultSecrets } from '@/db/schema/vault'
import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
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
  const [row] = await ctx.db
    .insert(vaultSecrets)
    .values({ tenantId: ctx.tenantId, name, ...change, createdBy: ctx.actor.id, createdAt: now })
    .onConflictDoUpdate({ target: [vaultSecrets.tenantId, vaultSecrets.name], set: change })
    // Postgres sets xmax to the updating transaction only for a row that existed before.
    .returning({ created: sql<boolean>`xmax = 0` })
  return { name, created: row?.created ?? false }
}
