import { z } from 'zod'
import { apiKeys } from '@/db/schema/keys'
import { record } from '../../audit/record'
import { generateApiKey, hashApiKey, hintOf } from '../../auth/api-key'
import { refuseRoleAboveOwn } from '../../auth/grant'
import { authorize } from '../../auth/policy'
import { type ServiceContext, withTransaction } from '../../context'
import { component } from '../../definition/component'
import { newId } from '../../ids'
import { parseInput } from '../../parse'
import { ROLES, type Role } from '../../roles'

/** The body of a new key. */
export const CreateKey = component('CreateKey', {
  name: z.string().trim().min(1).max(200).describe('For people.'),
  role: z.enum(ROLES).default('admin').describe('What it may do, at most what the caller may.'),
  only: z
    .enum(['definitions:check'])
    .nullish()
    .describe(
      'A key that may only compare definitions (`diff`) and try past runs on them (`backtest`), for pull requests. It has no other right of any role.',
    ),
})

/**
 * Creates an API key. Only this result contains the key; the database stores a hash.
 * @throws AppError INVALID_INPUT, FORBIDDEN if the role is above the creator's
 */
export async function createApiKey(
  ctx: ServiceContext,
  input: { name?: unknown; role?: unknown; only?: unknown },
  /** Not for callers: the value of the first boot's key, and the key this one replaces. */
  given: { value?: string | undefined; rotatedFrom?: string } = {},
): Promise<{ id: string; key: string; tenantId: string; role: Role; only?: 'definitions:check' }> {
  authorize(ctx, 'key:manage')
  const { name, only, ...wanted } = parseInput(CreateKey, input)
  // A process of an earlier release knows roles alone.
  const role = only ? 'viewer' : wanted.role
  refuseRoleAboveOwn(ctx, role)
  const key = given.value ?? generateApiKey()
  const id = newId('key')
  await withTransaction(ctx, async (tx) => {
    await tx.db.insert(apiKeys).values({
      tenantId: tx.tenantId,
      id,
      name,
      role,
      only: only ?? null,
      hash: hashApiKey(key),
      hint: hintOf(key),
      createdBy: tx.actor.id,
      createdAt: tx.now(),
      rotatedFrom: given.rotatedFrom ?? null,
    })
    // A rotation is one change, of the old key.
    if (given.rotatedFrom === undefined) await record(tx, 'apiKey.created', { id, name }, only ? { only } : { role })
  })
  return { id, key, tenantId: ctx.tenantId, role, ...(only ? { only } : {}) }
}
