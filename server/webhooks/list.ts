import { desc, eq, sql } from 'drizzle-orm'
import { webhookEndpoints } from '@/db/schema/webhooks'
import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import { endpointIs, findEndpoint } from './find'
import { presentEndpoint } from './present'

/** How many messages are waiting for an endpoint, counted up to a limit. */
const MAX_COUNTED = 1_000
const waiting = sql<number>`(
  select count(*)::int from (
    select 1 from webhook_deliveries d
    where d.tenant_id = webhook_endpoints.tenant_id and d.endpoint_id = webhook_endpoints.id and d.status = 'pending'
    limit ${MAX_COUNTED}) counted)`

/** The tenant's endpoints, newest first. */
export async function listWebhooks(ctx: ServiceContext) {
  authorize(ctx, 'webhook:manage')
  const rows = await ctx.db
    .select({ row: webhookEndpoints, waiting })
    .from(webhookEndpoints)
    .where(eq(webhookEndpoints.tenantId, ctx.tenantId))
    .orderBy(desc(webhookEndpoints.createdAt), desc(webhookEndpoints.id))
  return rows.map(({ row, waiting }) => presentEndpoint(row, waiting, ctx.now()))
}

/** @throws AppError NOT_FOUND */
export async function getWebhook(ctx: ServiceContext, { id }: { id: string }) {
  authorize(ctx, 'webhook:manage')
  const row = await findEndpoint(ctx, id)
  const [counted] = await ctx.db.select({ waiting }).from(webhookEndpoints).where(endpointIs(ctx, id))
  return presentEndpoint(row, counted?.waiting ?? 0, ctx.now())
}
