import { webhookEndpoints } from '@/db/schema/webhooks'
import { record, recordChanges } from '../audit/record'
import { authorize } from '../auth/policy'
import { type ServiceContext, withTransaction } from '../context'
import { differences } from '../definition/audit'
import { emit } from '../outbox'
import { parseInput } from '../parse'
import { endpointIs, findEndpoint } from './find'
import { getWebhook } from './list'
import { named } from './present'
import { UpdateWebhook } from './schema'

/**
 * Changes the fields in the body. A re-enabled endpoint gets its waiting messages; events while it was disabled made
 * none.
 * @throws AppError NOT_FOUND, INVALID_INPUT
 */
export async function updateWebhook(ctx: ServiceContext, { id, body }: { id: string; body: unknown }) {
  authorize(ctx, 'webhook:manage')
  return withTransaction(ctx, async (tx) => {
    const old = await findEndpoint(tx, id, { lock: true })
    const changes = parseInput(UpdateWebhook, body)
    const enabled = changes.enabled ?? old.enabled
    const again = enabled && !old.enabled
    await tx.db
      .update(webhookEndpoints)
      .set({
        url: changes.url ?? old.url,
        description: changes.description ?? old.description,
        events: changes.events ?? old.events,
        format: changes.format ?? old.format,
        enabled,
        ...(again || changes.enabled === false ? { disabledReason: null, failingSince: null } : {}),
        updatedBy: tx.actor.id,
        updatedAt: tx.now(),
      })
      .where(endpointIs(tx, id))
    const { url = old.url, description = old.description } = changes
    await recordChanges(tx, 'webhook.updated', named({ id, url, description }), differences(old, changes, ['url']))
    if (again) await emit(tx, 'webhook/endpoint.due', { tenantId: tx.tenantId, endpointId: id })
    return getWebhook(tx, { id })
  })
}

/**
 * Deletes an endpoint with its deliveries.
 * @throws AppError NOT_FOUND
 */
export async function deleteWebhook(
  ctx: ServiceContext,
  { id }: { id: string },
): Promise<{ id: string; deleted: true }> {
  authorize(ctx, 'webhook:manage')
  return withTransaction(ctx, async (tx) => {
    const endpoint = await findEndpoint(tx, id, { lock: true })
    await tx.db.delete(webhookEndpoints).where(endpointIs(tx, id))
    await record(tx, 'webhook.deleted', named(endpoint))
    return { id, deleted: true }
  })
}
