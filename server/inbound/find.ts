import { and, eq, sql } from 'drizzle-orm'
import { inboundDeliveries, inboundWebhooks } from '@/db/schema/inbound'
import type { ServiceContext } from '../context'
import { AppError } from '../errors'
import { isId } from '../ids'
import { findRow } from '../versioned/rows'
import { WORKFLOW } from '../workflows/noun'
import type { Content } from './content'

export type InboundRow = typeof inboundWebhooks.$inferSelect
export type InboundDeliveryRow = typeof inboundDeliveries.$inferSelect

/** Identifies an inbound webhook of a workflow. */
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
 * An inbound webhook of a workflow, if the caller may see it.
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

/**
 * The content of a delivery. A replay that started no run uses the replayed delivery's, so that it is deleted in one
 * place.
 * @returns null once it is deleted
 */
export async function findContent(ctx: ServiceContext, { webhookId, id }: InboundDeliveryRow): Promise<Content | null> {
  const { contentType, headers, query, body } = inboundDeliveries
  const [row] = await ctx.db
    .select({ contentType, headers, query, body })
    .from(inboundDeliveries)
    .where(
      and(
        eq(inboundDeliveries.tenantId, ctx.tenantId),
        sql`${inboundDeliveries.id} = (
          with recursive up as (
            select d.id, d.replay_of, d.run_id, d.body is not null as has_it from inbound_deliveries d
            where d.tenant_id = ${ctx.tenantId} and d.webhook_id = ${webhookId} and d.id = ${id}
            union all
            select d.id, d.replay_of, d.run_id, d.body is not null from up
            join inbound_deliveries d on d.tenant_id = ${ctx.tenantId} and d.id = up.replay_of
            where not up.has_it and up.run_id is null)
          select id from up where has_it)`,
      ),
    )
  return row?.body == null ? null : { ...row, body: row.body }
}
