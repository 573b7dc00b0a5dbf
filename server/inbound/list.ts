import { and, desc, eq, getTableColumns, sql } from 'drizzle-orm'
import { inboundDeliveries, inboundWebhooks } from '@/db/schema/inbound'
import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import { tenantMasker } from '../vault/masker'
import { findRow } from '../versioned/rows'
import { WORKFLOW } from '../workflows/noun'
import { findInbound, inboundIs, type OneInbound } from './find'
import { presentInbound } from './present'

const { body: _body, headers: _headers, query: _query, ...listed } = getTableColumns(inboundDeliveries)
/** The columns of a delivery in a list. */
export const LISTED = listed

/** Inbound webhooks, each with its last delivery. */
export async function readInbound(ctx: ServiceContext, where?: ReturnType<typeof inboundIs>) {
  const rows = await ctx.db
    .select({ webhook: inboundWebhooks, last: LISTED })
    .from(inboundWebhooks)
    .leftJoin(
      inboundDeliveries,
      and(
        eq(inboundDeliveries.tenantId, inboundWebhooks.tenantId),
        eq(inboundDeliveries.webhookId, inboundWebhooks.id),
        sql`${inboundDeliveries.seq} = (
          select max(d.seq) from inbound_deliveries d
          where d.tenant_id = ${inboundWebhooks.tenantId} and d.webhook_id = ${inboundWebhooks.id})`,
      ),
    )
    .where(and(eq(inboundWebhooks.tenantId, ctx.tenantId), where))
    .orderBy(desc(inboundWebhooks.createdAt), desc(inboundWebhooks.id))
  const masker = await tenantMasker(ctx)
  return rows.map(({ webhook, last }) => presentInbound(webhook, last, masker, ctx.now()))
}

/**
 * A workflow's inbound webhooks, newest first. Only for people who may change them, because knowing an address is
 * enough to send to it.
 * @throws AppError WORKFLOW_NOT_FOUND
 */
export async function listInbound(ctx: ServiceContext, { workflowId }: { workflowId: string }) {
  authorize(ctx, 'workflow:publish')
  await findRow(ctx, WORKFLOW, workflowId)
  return readInbound(ctx, eq(inboundWebhooks.workflowId, workflowId))
}

/** @throws AppError WORKFLOW_NOT_FOUND, NOT_FOUND */
export async function getInbound(ctx: ServiceContext, one: OneInbound) {
  authorize(ctx, 'workflow:publish')
  const row = await findInbound(ctx, one)
  const [found] = await readInbound(ctx, inboundIs(ctx, one))
  return found ?? presentInbound(row, null, await tenantMasker(ctx), ctx.now())
}
