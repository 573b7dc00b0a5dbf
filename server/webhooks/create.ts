import { eq } from 'drizzle-orm'
import { webhookEndpoints } from '@/db/schema/webhooks'
import { record } from '../audit/record'
import { authorize } from '../auth/policy'
import { type ServiceContext, withTransaction } from '../context'
import { AppError, ImpossibleState } from '../errors'
import { newId } from '../ids'
import { parseInput } from '../parse'
import { named, presentEndpoint } from './present'
import { CreateWebhook } from './schema'
import { newSecret } from './secrets'

/** Each endpoint costs a message per event. */
const MAX_ENDPOINTS = 20

/**
 * Creates an endpoint. Only this result contains its secret.
 * @throws AppError INVALID_INPUT, CONFLICT
 */
export async function createWebhook(ctx: ServiceContext, input: unknown) {
  authorize(ctx, 'webhook:manage')
  const { url, description, events, format } = parseInput(CreateWebhook, input)
  return withTransaction(ctx, async (tx) => {
    const { tenantId, actor } = tx
    const count = await tx.db.$count(webhookEndpoints, eq(webhookEndpoints.tenantId, tenantId))
    if (count >= MAX_ENDPOINTS)
      throw new AppError('CONFLICT', { message: `A workspace has at most ${MAX_ENDPOINTS} webhooks` })
    const id = newId('whk')
    const { secret, stored } = newSecret(tx, id)
    const at = tx.now()
    const [row] = await tx.db
      .insert(webhookEndpoints)
      .values({
        ...{ tenantId, id, url, description, events, format, secrets: [stored] },
        ...{ createdBy: actor.id, updatedBy: actor.id, createdAt: at, updatedAt: at },
      })
      .returning()
    if (!row) throw new ImpossibleState('webhook-not-inserted', id)
    await record(tx, 'webhook.created', named(row), { events, format })
    return { ...presentEndpoint(row, 0, at), secret }
  })
}
