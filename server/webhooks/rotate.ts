import { webhookEndpoints } from '@/db/schema/webhooks'
import { record } from '../audit/record'
import { authorize } from '../auth/policy'
import { type ServiceContext, withTransaction } from '../context'
import { parseInput } from '../parse'
import { endpointIs, findEndpoint } from './find'
import { named } from './present'
import { RotateWebhook } from './schema'
import { newSecret, rotated } from './secrets'

const HOUR_MS = 3_600_000

/**
 * Replaces an endpoint's secret. For a while messages carry the signatures of both, so the receiver can switch at any
 * moment. Only this result contains the new secret.
 * @throws AppError NOT_FOUND, INVALID_INPUT
 */
export async function rotateWebhook(ctx: ServiceContext, { id, body }: { id: string; body: unknown }) {
  authorize(ctx, 'webhook:manage')
  return withTransaction(ctx, async (tx) => {
    const row = await findEndpoint(tx, id, { lock: true })
    const { graceHours } = parseInput(RotateWebhook, body)
    const { secret, stored } = newSecret(tx, id)
    const endsAt = new Date(tx.now().getTime() + graceHours * HOUR_MS)
    const secrets = rotated(row.secrets, stored, endsAt)
    await tx.db
      .update(webhookEndpoints)
      .set({ secrets, updatedBy: tx.actor.id, updatedAt: tx.now() })
      .where(endpointIs(tx, id))
    await record(tx, 'webhook.rotated', named(row), { graceHours })
    return { id, secret, oldSecretEndsAt: secrets[1]?.endsAt ?? null }
  })
}
