import { and, eq } from 'drizzle-orm'
import { inboundDeliveries, inboundWebhooks } from '@/db/schema/inbound'
import type { ServiceContext } from '../context'
import { AppError } from '../errors'
import { isId } from '../ids'
import { findRow } from '../versioned/rows'
import { WORKFLOW } from '../workflows/noun'

export type InboundRow = typeof inboundWebhooks.$inferSelect
export type InboundDeliveryRow = typeof inboundDeliveries.$inferSelect

/** Names an inbound webhook of a workflow. */
export interface OneInbound {
  workflowId: string
  inboundId: string
}

export const inboundIs = (ctx: ServiceContext, { workflowId, inboundId }: OneInbound) =>
  and(
    eq(inboundWebhooks.tenantId, ctx.tenantId),
    eq(inboundWebhooks.workflowId, workflowId),
    eq(inboundWebhooks.id, inboundId),
  )

/**
 * The inbound webhook of a workflow that the caller finds.
 * @throws AppError WORKFLOW_NOT_FOUND, NOT_FOUND
 */
export async function findInbound(
  ctx: ServiceContext,
  one: OneInbound,
  options: { lock?: boolean } = {},
): Promise<InboundRow> {
  await findRow(ctx, WORKFLOW, one.workflowId)
  if (!isId(one.inboundId)) throw new AppError('NOT_FOUND')
  const query = ctx.db.select().from(inboundWebhooks).where(inboundIs(ctx, one))
  const [row] = await (options.lock ? query.for('update') : query)
  if (!row) throw new AppError('NOT_FOUND')
  return row
}

/** @throws AppError NOT_FOUND */
export async function findInboundDelivery(
  ctx: ServiceContext,
  inboundId: string,
  id: string,
): Promise<InboundDeliveryRow> {
  if (!isId(id)) throw new AppError('NOT_FOUND')
  const [row] = await ctx.db
    .select()
    .from(inboundDeliveries)
    .where(
      and(
        eq(inboundDeliveries.tenantId, ctx.tenantId),
        eq(inboundDeliveries.webhookId, inboundId),
        eq(inboundDeliveries.id, id),
      ),
    )
  if (!row) throw new AppError('NOT_FOUND')
  return row
}
