import { apiKeys } from '@/db/schema/keys'
import { generateApiKey, hashApiKey, hintOf } from '../auth/api-key'
import { authorize } from '../auth/policy'
import { ROLES, type Role, type ServiceContext } from '../context'
import { AppError } from '../errors'
import { newId } from '../ids'

/**
 * A new API key. The value is in the answer and nowhere else: only its hash is stored.
 * @throws AppError FORBIDDEN when the role is above the creator's, or `owner` from anybody but an owner
 */
export async function createApiKey(
  ctx: ServiceContext,
  input: { name: string; role: Role; value?: string | undefined; rotatedFrom?: string },
): Promise<{ id: string; key: string; tenantId: string; role: Role }> {
  authorize(ctx, 'key:manage')
  if (ROLES.indexOf(input.role) > ROLES.indexOf(ctx.actor.role)) {
    throw new AppError('FORBIDDEN', {
      details: [{ message: `A key may not have a role above your own (${ctx.actor.role}).` }],
    })
  }
  const key = input.value ?? generateApiKey()
  const id = newId('key')
  await ctx.db.insert(apiKeys).values({
    tenantId: ctx.tenantId,
    id,
    name: input.name,
    role: input.role,
    hash: hashApiKey(key),
    hint: hintOf(key),
    createdBy: ctx.actor.id,
    createdAt: ctx.now(),
    rotatedFrom: input.rotatedFrom ?? null,
  })
  return { id, key, tenantId: ctx.tenantId, role: input.role }
}
