import { and, eq, sql } from 'drizzle-orm'
import { DatabaseUnavailable } from '@/db/index'
import { webhookDeliveries, webhookEndpoints } from '@/db/schema/webhooks'
import { record } from '../audit/record'
import { type ServiceContext, withTransaction } from '../context'
import type { DeliveryAttempt } from '../definition/webhook'
import { attempted, HOUR_MS, lease, release, waitsOf } from '../leased-delivery'
import { attempt } from './attempt'
import { isDue } from './due'
import { type DeliveryRow, deliveryIs, type EndpointRow, endpointIs } from './find'
import { mailOwners } from './mail-owners'
import { bodyOf } from './message'
import { named } from './present'
import { retryBy } from './retries'

/** How many messages of different runs are sent to an endpoint concurrently. */
const PARALLEL = 8
/** How long one call runs. Including its last attempts, it stays below the limits of platforms. */
const CALL_MS = 20_000
/** Longer than any attempt; renewed between them. */
const LEASE_MS = 60_000
/** About four days in all. */
export const WAITS_MS = waitsOf(2, 5, 10, 10, 24, 24, 24)
/** An endpoint where every attempt has failed for this long is disabled. */
const FAILING_MS = 5 * 24 * HOUR_MS
const MAX_ATTEMPTS_KEPT = 20

/**
 * Delivers everything due at an endpoint: in order within each run, runs in parallel. Each endpoint has one such call
 * at a time, so a slow one uses a single slot of the engine, however many messages are waiting.
 * @returns whether more is due
 */
export async function deliverDue(ctx: ServiceContext, endpointId: string): Promise<{ more: boolean }> {
  let endpoint = await take(ctx, endpointId)
  // The call that has the lease checks again after releasing it.
  if (!endpoint) return { more: false }
  const until = performance.now() + CALL_MS
  try {
    while (endpoint) {
      const held: EndpointRow = endpoint
      const due = await readDue(ctx, endpointId, PARALLEL)
      await Promise.all(due.map((delivery) => deliverOne(ctx, held, delivery)))
      if (due.length === 0 || performance.now() >= until) break
      endpoint = await take(ctx, endpointId, held)
    }
  } finally {
    if (endpoint) await release(ctx, webhookEndpoints, { where: endpointIs(ctx, endpointId), mine: endpoint })
  }
  return { more: (await readDue(ctx, endpointId, 1)).length > 0 }
}

/** Leases an enabled endpoint for this call, or renews its lease. */
function take(ctx: ServiceContext, id: string, mine?: EndpointRow) {
  const where = and(endpointIs(ctx, id), eq(webhookEndpoints.enabled, true))
  return lease(ctx, webhookEndpoints, { where, ms: LEASE_MS, mine })
}

async function readDue(ctx: ServiceContext, endpointId: string, limit: number): Promise<DeliveryRow[]> {
  const due = sql`(
    select d.id from webhook_deliveries d
    where d.tenant_id = ${ctx.tenantId} and d.endpoint_id = ${endpointId} and ${isDue(ctx.now())}
    order by d.seq limit ${limit})`
  return ctx.db
    .select({ row: webhookDeliveries })
    .from(webhookDeliveries)
    .innerJoin(webhookEndpoints, and(endpointIs(ctx, endpointId), eq(webhookEndpoints.enabled, true)))
    .where(and(eq(webhookDeliveries.tenantId, ctx.tenantId), sql`${webhookDeliveries.id} in ${due}`))
    .then((rows) => rows.map(({ row }) => row))
}

async function deliverOne(ctx: ServiceContext, endpoint: EndpointRow, delivery: DeliveryRow): Promise<void> {
  const made = await tryOne(ctx, endpoint, delivery).catch((err: unknown) => {
    if (err instanceof DatabaseUnavailable) throw err
    // It waits like any other failed delivery, so it delays only the messages of its own run.
    ctx.log.error({ err, endpointId: endpoint.id, deliveryId: delivery.id }, 'a webhook message could not be sent')
    const failure = {
      status: null,
      error: 'The message could not be sent because of an internal error.',
      response: null,
    }
    return { at: ctx.now().toISOString(), durationMs: 0, ...failure }
  })
  if (!made) return
  await recordAttempt(ctx, endpoint, delivery, made).catch((err: unknown) => {
    if (err instanceof DatabaseUnavailable) throw err
    // An attempt without a record would repeat, so record this one without any outside data.
    ctx.log.error({ err, endpointId: endpoint.id, deliveryId: delivery.id }, 'a webhook response could not be stored')
    const error = made.error === null ? null : 'The message did not arrive. The reason could not be stored.'
    return recordAttempt(ctx, endpoint, delivery, { ...made, error, response: null })
  })
}

async function tryOne(ctx: ServiceContext, endpoint: EndpointRow, delivery: DeliveryRow) {
  const body = delivery.body ?? (await bodyOf(ctx, delivery, endpoint.format))
  // The run was deleted, and this row with it.
  if (body === null) return null
  if (delivery.body === null) await ctx.db.update(webhookDeliveries).set({ body }).where(deliveryIs(ctx, delivery.id))
  return attempt(ctx, endpoint, { id: delivery.id, body })
}

/** A message fails after its last wait; an endpoint is disabled once all its attempts have failed for days. */
async function recordAttempt(ctx: ServiceContext, endpoint: EndpointRow, delivery: DeliveryRow, made: DeliveryAttempt) {
  const now = ctx.now()
  const arrived = made.error === null
  const after = attempted(now, delivery.tries, WAITS_MS, arrived ? 'delivered' : null)
  await ctx.db
    .update(webhookDeliveries)
    .set({ ...after, attempts: [...delivery.attempts, made].slice(-MAX_ATTEMPTS_KEPT) })
    .where(deliveryIs(ctx, delivery.id))
  if ('dueAt' in after) retryBy(after.dueAt)
  if (arrived) {
    await ctx.db
      .update(webhookEndpoints)
      .set({ failingSince: null, deliveredAt: now })
      .where(endpointIs(ctx, endpoint.id))
    return
  }
  await endpointFailed(ctx, endpoint, made.status === 410)
}

/** Disables the endpoint if it responded that it is gone, or all attempts have failed for days. */
async function endpointFailed(ctx: ServiceContext, endpoint: EndpointRow, gone: boolean): Promise<void> {
  const now = ctx.now()
  if (!gone && now.getTime() - (endpoint.failingSince ?? now).getTime() < FAILING_MS) {
    const failingSince = sql`coalesce(${webhookEndpoints.failingSince}, ${now.toISOString()}::timestamptz)`
    await ctx.db.update(webhookEndpoints).set({ failingSince }).where(endpointIs(ctx, endpoint.id))
    return
  }
  const disabledReason = gone ? 'gone' : 'failing'
  const disabled = await withTransaction(ctx, async (tx) => {
    // Several attempts may fail concurrently.
    const [disabled] = await tx.db
      .update(webhookEndpoints)
      .set({
        failingSince: sql`coalesce(${webhookEndpoints.failingSince}, ${now.toISOString()}::timestamptz)`,
        enabled: false,
        disabledReason,
      })
      .where(and(endpointIs(tx, endpoint.id), eq(webhookEndpoints.enabled, true)))
      .returning({ id: webhookEndpoints.id })
    if (!disabled) return false
    await record(tx, 'webhook.updated', named(endpoint), { enabled: { from: true, to: false }, disabledReason })
    ctx.log.warn({ endpointId: endpoint.id, gone }, 'a webhook is disabled: its deliveries keep failing')
    return true
  })
  if (disabled) await mailOwners(ctx, endpoint, gone)
}
