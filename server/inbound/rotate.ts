import { inboundWebhooks } from '@/db/schema/inbound'
import { record } from '../audit/record'
import { authorize } from '../auth/policy'
import { type ServiceContext, withTransaction } from '../context'
import { AppError } from '../errors'
import { parseInput } from '../parse'
import { findInbound, inboundIs, type OneInbound } from './find'
import { RotateInbound } from './schema'
import { madeSecret, rotated, sealSecret } from './secrets'

const HOUR_MS = 3_600_000

/**
 * Gives an inbound webhook a new secret: the sender's own, or a generated one, which only this result contains. The old
 * one is accepted for a while.
 * @throws AppError WORKFLOW_NOT_FOUND, NOT_FOUND, INVALID_INPUT
 */
export async function rotateInbound(ctx: ServiceContext, { body, ...one }: OneInbound & { body: unknown }) {
  authorize(ctx, 'workflow:publish')
  return withTransaction(ctx, async (tx) => {
    const row = await findInbound(tx, one, { lock: true })
    const { secret, graceHours } = parseInput(RotateInbound, body)
    const made = secret === undefined ? madeSecret(row.scheme) : null
    const known = secret ?? made
    if (known === null) {
      const message =
        row.scheme === 'none' ? 'is only for senders that sign' : 'must be the secret that the sender shows'
      throw new AppError('INVALID_INPUT', { details: [{ path: 'secret', message }] })
    }
    const endsAt = new Date(tx.now().getTime() + graceHours * HOUR_MS)
    const secrets = rotated(row.secrets, sealSecret(tx, row.id, row.scheme, known), endsAt)
    await tx.db
      .update(inboundWebhooks)
      .set({ secrets, refusedAt: null, refusal: null, updatedBy: tx.actor.id, updatedAt: tx.now() })
      .where(inboundIs(tx, one))
    await record(tx, 'inboundWebhook.rotated', row, { workflow: one.workflowId, graceHours })
    return { id: row.id, secret: made, oldSecretEndsAt: secrets[1]?.endsAt ?? null }
  })
}
