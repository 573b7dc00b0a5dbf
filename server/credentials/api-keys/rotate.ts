import { and, eq } from 'drizzle-orm'
import { z } from 'zod'
import { apiKeys } from '@/db/schema/keys'
import { record } from '../../audit/record'
import { authorize } from '../../auth/policy'
import { type ServiceContext, withTransaction } from '../../context'
import { component } from '../../definition/component'
import { AppError } from '../../errors'
import { parseInput } from '../../parse'
import { ROLES } from '../../roles'
import { createApiKey } from './create'
import { getApiKey } from './find'

const DEFAULT_GRACE_MS = 24 * 60 * 60_000
const MAX_GRACE_MS = 365 * DEFAULT_GRACE_MS
export const RotateKey = component('RotateKey', {
  graceMs: z
    .number()
    .min(0)
    .max(MAX_GRACE_MS)
    .default(DEFAULT_GRACE_MS)
    .describe('How long the old key keeps working; 0 ends it at once. In milliseconds.'),
})

/**
 * Creates a key to replace an old one, which stays valid for the grace period (24 h by default, 0 to end it at once). A
 * key is replaced only once: a second rotation would revive a key that the first one ended.
 * @throws AppError NOT_FOUND, FORBIDDEN, CONFLICT, INVALID_INPUT
 */
export async function rotateApiKey(ctx: ServiceContext, id: string, given?: unknown) {
  authorize(ctx, 'key:manage')
  const { graceMs } = parseInput(RotateKey, { graceMs: given })
  return withTransaction(ctx, async (tx) => {
    const old = await getApiKey(tx, id, { lock: true })
    if (old.graceUntil || old.disabledAt) {
      const state = old.disabledAt ? 'disabled' : 'already replaced'
      throw new AppError('CONFLICT', { message: `The key is ${state}` })
    }
    const graceUntil = new Date(tx.now().getTime() + graceMs)
    await tx.db
      .update(apiKeys)
      .set({ graceUntil })
      .where(and(eq(apiKeys.tenantId, old.tenantId), eq(apiKeys.id, id)))
    const role = ROLES.find((name) => name === old.role) ?? 'viewer'
    const created = await createApiKey(tx, { name: old.name, role, only: old.only }, { rotatedFrom: id })
    await record(tx, 'apiKey.rotated', old, { newKey: created.id, worksUntil: graceUntil.toISOString() })
    return { ...created, rotatedFrom: id, graceUntil: graceUntil.toISOString() }
  })
}
