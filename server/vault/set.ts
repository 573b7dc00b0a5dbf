import { sql } from 'drizzle-orm'
import { vaultSecrets } from '@/db/schema/vault'
import { record } from '../audit/record'
import { authorize } from '../auth/policy'
import { type ServiceContext, withTransaction } from '../context'
import { seal } from '../crypto'
import { AppError } from '../errors'
import { parseInput } from '../parse'
import { SetSecret, vaultPlace } from './schema'

/**
 * Stores a secret, replacing an earlier one with this name. Its value is never shown again. Without `hosts`, a new
 * secret is unbound and an existing one keeps its hosts.
 * @param options.onlyNew refuses a name that the vault already has
 * @returns whether the name is new
 * @throws AppError INVALID_INPUT, CONFLICT
 */
export async function setVaultSecret(
  ctx: ServiceContext,
  input: unknown,
  { onlyNew = false }: { onlyNew?: boolean } = {},
): Promise<{ name: string; created: boolean }> {
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
      .onConflictDoUpdate({
        target: [vaultSecrets.tenantId, vaultSecrets.name],
        set: change,
        ...(onlyNew ? { setWhere: sql`false` } : {}),
      })
      // Postgres sets xmax to the updating transaction only for a row that existed before.
      .returning({ created: sql<boolean>`xmax = 0` })
    if (!row) throw new AppError('CONFLICT', { message: `The vault already has a secret ${name}` })
    const { created } = row
    await record(tx, 'vaultSecret.set', { id: name, name }, { new: created, ...(hosts ? { hosts } : {}) })
    return { name, created }
  })
}
