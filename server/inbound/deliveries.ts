import { and, desc, eq } from 'drizzle-orm'
import { inboundDeliveries } from '@/db/schema/inbound'
import { authorize } from '../auth/policy'
import { type ServiceContext, type TransactionContext, withTransaction } from '../context'
import { AppError, ImpossibleState } from '../errors'
import { parseInput } from '../parse'
import { callerMaskerOf, callerMaskersOf } from '../runs/run-masker'
import { sentOf } from './content'
import { contentMasker, maskedBody } from './content-masker'
import { decide, holdInbound } from './decide'
import { findContent, findInbound, findInboundDelivery, type OneInbound } from './find'
import { LISTED } from './list'
import { insertDelivery } from './once'
import { presentInboundDelivery } from './present'
import { ListInboundDeliveries } from './schema'

const DEFAULT_LIMIT = 50

type OneDelivery = OneInbound & { deliveryId: string }

/**
 * The deliveries of an inbound webhook, newest first.
 * @throws AppError WORKFLOW_NOT_FOUND, NOT_FOUND, INVALID_INPUT
 */
export async function listInboundDeliveries(ctx: ServiceContext, { query, ...one }: OneInbound & { query: unknown }) {
  authorize(ctx, 'workflow:publish')
  const webhook = await findInbound(ctx, one)
  const { status, limit = DEFAULT_LIMIT, offset = 0 } = parseInput(ListInboundDeliveries, query)
  const where = and(
    eq(inboundDeliveries.tenantId, ctx.tenantId),
    eq(inboundDeliveries.webhookId, webhook.id),
    status && eq(inboundDeliveries.status, status),
  )
  const [rows, total] = await Promise.all([
    ctx.db
      .select(LISTED)
      .from(inboundDeliveries)
      .where(where)
      .orderBy(desc(inboundDeliveries.seq))
      .limit(limit)
      .offset(offset),
    ctx.db.$count(inboundDeliveries, where),
  ])
  const maskerOf = await callerMaskersOf(ctx, rows)
  return { items: rows.map((row) => presentInboundDelivery(row, maskerOf(row))), total, limit, offset }
}

/**
 * A delivery with its content. The body is null once it is deleted, together with the run it started.
 * @throws AppError WORKFLOW_NOT_FOUND, NOT_FOUND
 */
export async function getInboundDelivery(ctx: ServiceContext, { deliveryId, ...one }: OneDelivery) {
  authorize(ctx, 'workflow:publish')
  const webhook = await findInbound(ctx, one)
  const row = await findInboundDelivery(ctx, webhook.id, deliveryId)
  const content = await findContent(ctx, row)
  const masker = await contentMasker(ctx, webhook, { runId: row.runId, content })
  return {
    ...presentInboundDelivery(row, masker),
    contentType: masker.text(row.contentType),
    headers: masker.json(content?.headers ?? {}),
    query: masker.json(content?.query ?? {}),
    body: content && maskedBody(content, masker),
  }
}

/**
 * Decides a delivery again, by the current mapping and filter. This is a new delivery, and may start a run of its own.
 * @throws AppError WORKFLOW_NOT_FOUND, NOT_FOUND, CONFLICT if the content is deleted, UNAVAILABLE
 */
export async function replayInboundDelivery(ctx: ServiceContext, { deliveryId, ...one }: OneDelivery) {
  authorize(ctx, 'workflow:publish')
  return withTransaction(ctx, async (tx) => {
    const webhook = await findInbound(tx, one)
    await holdInbound(tx, webhook.id)
    const replayed = await findInboundDelivery(tx, webhook.id, deliveryId)
    const content = await findContent(tx, replayed)
    if (!content) throw new AppError('CONFLICT', { message: 'The contents of the delivery are no longer stored' })
    const replayOf = replayed.id
    const createdBy = tx.actor.id
    const id = await insertDelivery(tx, { webhookId: webhook.id, content, key: null, replayOf, createdBy })
    if (id === null) throw new ImpossibleState('replay-not-inserted', deliveryId)
    const { status, runId } = await decide(tx, webhook, id, sentOf(content))
    if (status !== 'started') await dropContent(tx, id)
    return presentInboundDelivery(await findInboundDelivery(tx, webhook.id, id), await callerMaskerOf(tx, runId))
  })
}

/** For a replay that started no run: the replayed delivery has the same content, until that is deleted with a run. */
async function dropContent({ db, tenantId }: TransactionContext, id: string): Promise<void> {
  await db
    .update(inboundDeliveries)
    .set({ body: null, headers: {}, query: {} })
    .where(and(eq(inboundDeliveries.tenantId, tenantId), eq(inboundDeliveries.id, id)))
}
