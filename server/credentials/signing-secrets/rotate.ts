import { and, eq } from 'drizzle-orm'
import { z } from 'zod'
import { signingSecrets } from '@/db/schema/secrets'
import { record } from '../../audit/record'
import { MAX_LIFE_S } from '../../auth/jwt'
import { authorize } from '../../auth/policy'
import { type ServiceContext, withTransaction } from '../../context'
import { component } from '../../definition/component'
import { AppError } from '../../errors'
import { parseInput } from '../../parse'
import { createSigningSecret } from './create'
import { getSigningSecret } from './find'

/** The maximum lifetime of a token, so that none issued before the rotation is rejected. */
const DEFAULT_GRACE_MS = MAX_LIFE_S * 1_000
const MAX_GRACE_MS = 365 * 24 * 60 * 60_000
export const RotateSecret = component('RotateSigningSecret', {
  graceMs: z
    .number()
    .min(0)
    .max(MAX_GRACE_MS)
    .default(DEFAULT_GRACE_MS)
    .describe('How long tokens of the old signing secret keep working; 0 ends them at once. In milliseconds.'),
})

/**
 * Creates a signing secret to replace an old one, with the same name, role and limits. Tokens of both are accepted for
 * the grace period. Only this result contains the new one. A secret is replaced only once: a second rotation would
 * revive a secret that the first one ended.
 * @throws AppError NOT_FOUND, FORBIDDEN, CONFLICT, INVALID_INPUT
 */
export async function rotateSigningSecret(
  ctx: ServiceContext,
  { id, graceMs: given }: { id: string; graceMs?: unknown },
) {
  authorize(ctx, 'secret:manage')
  const { graceMs } = parseInput(RotateSecret, { graceMs: given })
  return withTransaction(ctx, async (tx) => {
    const old = await getSigningSecret(tx, id, { lock: true })
    if (old.graceUntil || old.disabledAt) {
      const state = old.disabledAt ? 'disabled' : 'already replaced'
      throw new AppError('CONFLICT', { message: `The signing secret is ${state}` })
    }
    const graceUntil = new Date(tx.now().getTime() + graceMs)
    await tx.db
      .update(signingSecrets)
      .set({ graceUntil })
      .where(and(eq(signingSecrets.tenantId, old.tenantId), eq(signingSecrets.id, id)))
    const { name, role, workflowIds, agentIds, ownRuns } = old
    const made = await createSigningSecret(tx, { name, role, workflowIds, agentIds, ownRuns }, { rotatedFrom: id })
    await record(tx, 'signingSecret.rotated', old, { newSecret: made.id, worksUntil: graceUntil.toISOString() })
    return { ...made, rotatedFrom: id, graceUntil: graceUntil.toISOString() }
  })
}
