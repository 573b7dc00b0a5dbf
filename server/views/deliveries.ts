import type { ServiceContext } from '../context'
import { listInboundDeliveries } from '../inbound/deliveries'
import type { OneInbound } from '../inbound/find'
import { tenantMasker } from '../vault/masker'
import { listDeliveries } from '../webhooks/deliveries'
import { runNames } from './runs/run-names'

/** The newest deliveries of a webhook, as listed by `listDeliveries`, with the names of their runs. */
export async function browseDeliveries(ctx: ServiceContext, { id, status }: { id: string; status?: string }) {
  return withRuns(ctx, await listDeliveries(ctx, { id, query: { status } }))
}

/** The same for an inbound webhook. */
export async function browseInboundDeliveries(
  ctx: ServiceContext,
  { status, ...one }: OneInbound & { status?: string },
) {
  return withRuns(ctx, await listInboundDeliveries(ctx, { ...one, query: { status } }))
}

async function withRuns<D extends { runId: string | null }>(ctx: ServiceContext, page: { items: D[]; total: number }) {
  const nameOf = await runNames(
    ctx,
    page.items.map(({ runId }) => runId),
    await tenantMasker(ctx),
  )
  return {
    total: page.total,
    items: page.items.map((item) => ({ ...item, run: (item.runId !== null && nameOf.get(item.runId)) || null })),
  }
}

export type BrowsedDelivery = Awaited<ReturnType<typeof browseDeliveries>>['items'][number]
export type BrowsedInboundDelivery = Awaited<ReturnType<typeof browseInboundDeliveries>>['items'][number]
