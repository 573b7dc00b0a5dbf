import { eq } from 'drizzle-orm'
import { webhookEndpoints } from '@/db/schema/webhooks'
import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import { AppError, ImpossibleState } from '../errors'
import { newId } from '../ids'
import { parseInput } from '../parse'
import { presentEndpoint } from './present'
import { CreateWebhook } from './schema'
import { newSecret } from './secrets'

/** Each costs a message per event. */
const MOST_ENDPOINTS = 20

/**
 * Creates an endpoint. Only this result contains its secret.
 * @throws AppError INVALID_INPUT, CONFLICT
 */
export async function createWebhook(ctx: ServiceContext, input: unknown) {
  authorize(ctx, 'webhook:manage')
  const { url, description, events } = parseInput(CreateWebhook, input)
  const { tenantId, actor } = ctx
  const count = await ctx.db.$count(webhookEndpoints, eq(webhookEndpoints.tenantId, tenantId))
  if (count >= MOST_ENDPOINTS)
    throw new AppError('CONFLICT', { message: `A workspace has at most ${MOST_ENDPOINTS} webhooks` })
  const id = newId('whk')
  const { secret, stored } = newSecret(ctx, id)
  const at = ctx.now()
  const [row] = await ctx.db
    .insert(webhookEndpoints)
    .values({
      ...{ tenantId, id, url, description, events, secrets: [stored] },
      ...{ createdBy: actor.id, updatedBy: actor.id, createdAt: at, updatedAt: at },
    })
    .returning()
  if (!row) throw new ImpossibleState('webhook-not-inserted', id)
  return { ...presentEndpoint(row, 0, at), secret }
}
