import { createHash } from 'node:crypto'
import { and, eq } from 'drizzle-orm'
import { inboundDeliveries } from '@/db/schema/inbound'
import type { TransactionContext } from '../context'
import type { Sent } from '../definition/inbound'
import { newId } from '../ids'
import type { Content } from './content'
import type { InboundRow } from './find'
import { LISTED } from './list'
import type { ListedDelivery } from './present'
import { schemes } from './schemes/registry'
import { type Signed, TOLERANCE_MS } from './schemes/scheme'

/** The same for every repetition of a delivery. */
export interface DeliveryKey {
  key: string
  /** False if another delivery may have the same key: then it counts only as long as a signature does. */
  lasts: boolean
}

/**
 * The sender's id, else a digest of the signed content. Unsigned deliveries count only by a header with the id: equal
 * bodies under two ids are two deliveries, and without a signed time a recorded one could be replayed later anyway.
 */
export function deliveryKeyOf(webhook: InboundRow, request: Signed, query: Sent['query']): DeliveryKey {
  const rules = schemes[webhook.scheme]
  const id = rules.deliveryId(request, webhook)
  if (id) return { key: `id:${digest(id)}`, lasts: true }
  const time = rules.time?.(request) ?? null
  // No scheme signs the query: in the key, it would let a signed delivery be replayed with another one.
  const said = webhook.scheme === 'none' ? JSON.stringify(query) : ''
  return { key: `content:${digest(`${time ?? ''}\n${said}\n`, request.bytes)}`, lasts: time !== null }
}

function digest(...parts: (string | Uint8Array)[]): string {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest('base64url')
}

/**
 * Inserts the row of a delivery, or finds the existing one. Concurrent repetitions wait here for the first. A rejected
 * delivery without a run may be sent again, and so may one whose key no longer counts.
 */
export async function takeDelivery(
  tx: TransactionContext,
  webhookId: string,
  content: Content,
  { key, lasts }: DeliveryKey,
): Promise<{ id: string } | { known: ListedDelivery }> {
  for (;;) {
    const id = await insertDelivery(tx, { webhookId, content, key })
    if (id !== null) return { id }
    const { tenantId } = tx
    const isKnown = and(
      eq(inboundDeliveries.tenantId, tenantId),
      eq(inboundDeliveries.webhookId, webhookId),
      eq(inboundDeliveries.key, key),
    )
    const [known] = await tx.db.select(LISTED).from(inboundDeliveries).where(isKnown).for('update')
    if (!known) continue
    const isOver = !lasts && tx.now().getTime() - known.createdAt.getTime() > TOLERANCE_MS
    if (known.status !== 'invalid' && known.status !== 'refused' && !isOver) return { known }
    await tx.db.update(inboundDeliveries).set({ key: null }).where(isKnown)
  }
}

/** @returns null if another delivery has the key */
export async function insertDelivery(
  tx: TransactionContext,
  row: { webhookId: string; content: Content; key: string | null; replayOf?: string; createdBy?: string },
): Promise<string | null> {
  const { content, ...more } = row
  const id = newId('dlv')
  const [mine] = await tx.db
    .insert(inboundDeliveries)
    // The status is a placeholder until the decision later in this transaction.
    .values({ tenantId: tx.tenantId, id, ...content, ...more, status: 'refused', createdAt: tx.now() })
    .onConflictDoNothing()
    .returning({ id: inboundDeliveries.id })
  return mine?.id ?? null
}
