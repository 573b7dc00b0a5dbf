import { and, eq } from 'drizzle-orm'
import { isUnavailable, sqlState } from '@/db/index'
import { inboundDeliveries, inboundWebhooks } from '@/db/schema/inbound'
import type { TransactionContext } from '../context'
import type { Sent } from '../definition/inbound'
import { AppError, type ErrorCode } from '../errors'
import { startRun } from '../runs/start'
import { versionToRun } from '../workflows/version-to-run'
import type { InboundRow } from './find'
import { filteredBecause, mapToStart } from './map'

export interface Decision {
  status: 'started' | 'filtered' | 'invalid' | 'refused'
  runId: string | null
  error: string | null
  /** Why the start was rejected. */
  code: ErrorCode | null
}

/** Locks the inbound webhook, so that it cannot be deleted meanwhile. @throws AppError NOT_FOUND */
export async function holdInbound(tx: TransactionContext, id: string): Promise<void> {
  const [held] = await tx.db
    .select({ id: inboundWebhooks.id })
    .from(inboundWebhooks)
    .where(and(eq(inboundWebhooks.tenantId, tx.tenantId), eq(inboundWebhooks.id, id)))
    .for('key share')
  if (!held) throw new AppError('NOT_FOUND')
}

/**
 * Decides a written delivery, and starts its run in the same transaction. The start has a savepoint, so that a
 * rejection can be recorded.
 * @throws AppError UNAVAILABLE, or an error that `isUnavailable` accepts: nothing is decided, and the sender may retry
 */
export async function decide(
  tx: TransactionContext,
  webhook: InboundRow,
  deliveryId: string,
  sent: Sent,
): Promise<Decision> {
  const decision = await decideNow(tx, webhook, sent)
  const { status, runId, error } = decision
  await tx.db
    .update(inboundDeliveries)
    .set({ status, runId, error })
    .where(and(eq(inboundDeliveries.tenantId, tx.tenantId), eq(inboundDeliveries.id, deliveryId)))
  return decision
}

/** Postgres aborted this transaction in favour of another one: a serialization failure, a deadlock. */
const CONFLICTS = new Set(['40001', '40P01'])

async function decideNow(tx: TransactionContext, webhook: InboundRow, sent: Sent): Promise<Decision> {
  const error = filteredBecause(webhook, sent)
  if (error !== null) return { status: 'filtered', runId: null, error, code: null }
  const { workflowId } = webhook
  // The run belongs to the inbound webhook, even for a replay by a person.
  const as = { reach: undefined, trusted: null, actor: { kind: 'system', id: webhook.id, role: 'owner' } } as const
  try {
    const { runId } = await tx.db.transaction(async (db) => {
      const within = { ...tx, ...as, db }
      const { definition } = await versionToRun(within, workflowId, { wanted: undefined, fromCache: false })
      const { data, problems } = mapToStart(webhook, definition.payload, sent)
      if (problems.length > 0) throw new AppError('INVALID_INPUT', { details: problems })
      return startRun(within, { workflowId, body: data, version: undefined })
    })
    return { status: 'started', runId, error: null, code: null }
  } catch (err) {
    if (isUnavailable(err) || (err instanceof AppError && err.code === 'UNAVAILABLE')) throw err
    if (CONFLICTS.has(sqlState(err) ?? '')) throw new AppError('UNAVAILABLE', { cause: err })
    if (!(err instanceof AppError)) {
      tx.log.error({ err, webhookId: webhook.id }, 'the start of an inbound webhook failed')
      return { status: 'refused', runId: null, error: 'Internal server error', code: 'INTERNAL' }
    }
    const status = err.code === 'INVALID_INPUT' ? 'invalid' : 'refused'
    return { status, runId: null, error: reasonOf(err), code: err.code }
  }
}

const MAX_REASONS = 5

function reasonOf({ message, details }: AppError): string {
  const reasons = details.slice(0, MAX_REASONS).map((detail) => detail.message)
  return reasons.length > 0 ? `${message}: ${reasons.join('; ')}` : message
}
