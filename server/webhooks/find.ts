import { and, eq } from 'drizzle-orm'
import { webhookDeliveries, webhookEndpoints } from '@/db/schema/webhooks'
import type { ServiceContext } from '../context'
import { AppError } from '../errors'
import { isId } from '../ids'

export type EndpointRow = typeof webhookEndpoints.$inferSelect
export type DeliveryRow = typeof webhookDeliveries.$inferSelect

export const endpointIs = (ctx: ServiceContext, id: string) =>
  and(eq(webhookEndpoints.tenantId, ctx.tenantId), eq(webhookEndpoints.id, id))

export const deliveryIs = (ctx: ServiceContext, id: string) =>
  and(eq(webhookDeliveries.tenantId, ctx.tenantId), eq(webhookDeliveries.id, id))

/** @throws AppError NOT_FOUND */
export async function findEndpoint(
  ctx: ServiceContext,
  id: string,
  options: { lock?: boolean } = {},
): Promise<EndpointRow> {
  if (!isId(id)) throw new AppError('NOT_FOUND')
  const query = ctx.db.select().from(webhookEndpoints).where(endpointIs(ctx, id))
  const [row] = await (options.lock ? query.for('update') : query)
  if (!row) throw new AppError('NOT_FOUND')
  return row
}

/** @throws AppError NOT_FOUND */
export async function findDelivery(ctx: ServiceContext, endpointId: string, id: string): Promise<DeliveryRow> {
  if (!isId(endpointId) || !isId(id)) throw new AppError('NOT_FOUND')
  const [row] = await ctx.db
    .select()
    .from(webhookDeliveries)
    .where(and(deliveryIs(ctx, id), eq(webhookDeliveries.endpointId, endpointId)))
  if (!row) throw new AppError('NOT_FOUND')
  return row
}
