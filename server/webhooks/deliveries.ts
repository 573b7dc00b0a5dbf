import { and, desc, eq, getTableColumns } from 'drizzle-orm'
import { webhookDeliveries } from '@/db/schema/webhooks'
import { authorize } from '../auth/policy'
import { type ServiceContext, withTransaction } from '../context'
import type { JsonValue } from '../definition/json'
import { ImpossibleState } from '../errors'
import { newId } from '../ids'
import { emit } from '../outbox'
import { parseInput } from '../parse'
import { callerMaskerOf, callerMaskersOf } from '../runs/run-masker'
import type { RunMasker } from '../vault/hide'
import { deliveryIs, findDelivery, findEndpoint } from './find'
import { presentDelivery } from './present'
import { ListDeliveries } from './schema'
import { slackTest } from './slack'

const DEFAULT_LIMIT = 50
const { body: _body, ...listed } = getTableColumns(webhookDeliveries)

/**
 * An endpoint's messages, newest first, with every attempt.
 * @throws AppError NOT_FOUND, INVALID_INPUT
 */
export async function listDeliveries(ctx: ServiceContext, { id, query }: { id: string; query: unknown }) {
  authorize(ctx, 'webhook:manage')
  const endpoint = await findEndpoint(ctx, id)
  const { status, limit = DEFAULT_LIMIT, offset = 0 } = parseInput(ListDeliveries, query)
  const where = and(
    eq(webhookDeliveries.tenantId, ctx.tenantId),
    eq(webhookDeliveries.endpointId, endpoint.id),
    status && eq(webhookDeliveries.status, status),
  )
  const [rows, total] = await Promise.all([
    ctx.db
      .select(listed)
      .from(webhookDeliveries)
      .where(where)
      .orderBy(desc(webhookDeliveries.seq))
      .limit(limit)
      .offset(offset),
    ctx.db.$count(webhookDeliveries, where),
  ])
  const maskerOf = await callerMaskersOf(ctx, rows)
  return { items: rows.map((row) => presentDelivery(row, maskerOf(row))), total, limit, offset }
}

/**
 * A message with its body; null before the first attempt.
 * @throws AppError NOT_FOUND
 */
export async function getDelivery(ctx: ServiceContext, { id, deliveryId }: { id: string; deliveryId: string }) {
  authorize(ctx, 'webhook:manage')
  const row = await findDelivery(ctx, id, deliveryId)
  const masker = await callerMaskerOf(ctx, row.runId)
  return { ...presentDelivery(row, masker), body: row.body === null ? null : maskedBody(row.body, masker) }
}

/** A body is JSON written by this service. */
function maskedBody(body: string, masker: RunMasker): string {
  return masker.hides.size === 0 ? masker.text(body) : JSON.stringify(masker.json(JSON.parse(body) as JsonValue))
}

/**
 * Sends a message again immediately, with the retries of a new one. Its id and its body stay the same.
 * @throws AppError NOT_FOUND
 */
export async function redeliver(ctx: ServiceContext, { id, deliveryId }: { id: string; deliveryId: string }) {
  authorize(ctx, 'webhook:manage')
  return withTransaction(ctx, async (tx) => {
    await findDelivery(tx, id, deliveryId)
    const [row] = await tx.db
      .update(webhookDeliveries)
      .set({ status: 'pending', tries: 0, dueAt: tx.now(), endedAt: null })
      .where(deliveryIs(tx, deliveryId))
      .returning(listed)
    if (!row) throw new ImpossibleState('delivery-gone', deliveryId)
    await emit(tx, 'webhook/endpoint.due', { tenantId: tx.tenantId, endpointId: id })
    return presentDelivery(row, await callerMaskerOf(tx, row.runId))
  })
}

/**
 * Sends a message without content, to test a receiver.
 * @throws AppError NOT_FOUND
 */
export async function testWebhook(ctx: ServiceContext, { id }: { id: string }) {
  authorize(ctx, 'webhook:manage')
  return withTransaction(ctx, async (tx) => {
    const endpoint = await findEndpoint(tx, id)
    const at = tx.now()
    const test = { type: 'webhook.test', timestamp: at.toISOString(), data: { webhookId: id } }
    const body = endpoint.format === 'slack' ? slackTest() : JSON.stringify(test)
    const [row] = await tx.db
      .insert(webhookDeliveries)
      .values({
        ...{ tenantId: tx.tenantId, id: newId('msg'), endpointId: endpoint.id, type: 'webhook.test', body },
        ...{ createdAt: at, dueAt: at },
      })
      .returning(listed)
    if (!row) throw new ImpossibleState('delivery-not-inserted', id)
    await emit(tx, 'webhook/endpoint.due', { tenantId: tx.tenantId, endpointId: id })
    return presentDelivery(row, await callerMaskerOf(tx, row.runId))
  })
}
