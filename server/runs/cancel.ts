import { and, eq } from 'drizzle-orm'
import { runs } from '@/db/schema/runs'
import { authorize } from '../auth/policy'
import { type ServiceContext, type TransactionContext, withTransaction } from '../context'
import type { Cancellation } from '../definition/run'
import { announceRun, carryOutCancel, newCancellation } from '../interpreter/index'
import { parseInput } from '../parse'
import { definitionOf } from '../run-store/definition'
import { getRunRow } from '../run-store/find-run'
import type { RunRow } from './present'
import { StopRun } from './schema'
import { lockRunToStop, presentStop, recordStop } from './stop'

/**
 * Asks a run to stop. A running step may finish within the grace, then the `onCancel` path runs, then the run closes.
 * If nothing is running and there is no such path, it closes right here. Asking again changes nothing.
 * @throws AppError RUN_NOT_FOUND, RUN_ALREADY_ENDED, INVALID_INPUT
 */
export async function cancelRun(ctx: ServiceContext, input: unknown) {
  authorize(ctx, 'run:cancel')
  const request = parseInput(StopRun, input)
  return withTransaction(ctx, async (tx) => {
    const run = await lockRunToStop(tx, request)
    if (run.endTime || run.cancelRequestedAt) return presentStop(tx, run)
    await cancelNow(tx, run, newCancellation(tx, 'cancel', request.reason))
    await recordStop(tx, 'run.cancelled', run, request.reason)
    return presentStop(tx, await getRunRow(tx, run.id))
  })
}

/** Asks a locked, open run to stop that has not been asked before. */
export async function cancelNow(tx: TransactionContext, run: RunRow, cancellation: Cancellation): Promise<void> {
  const now = tx.now()
  await tx.db
    .update(runs)
    .set({ cancelRequestedAt: now, cancellation, updatedAt: now })
    .where(and(eq(runs.tenantId, tx.tenantId), eq(runs.id, run.id)))
  const definition = await definitionOf(tx, run)
  const asked = { ...run, cancelRequestedAt: now, cancellation }
  const how = await carryOutCancel(tx, { run: asked, definition, written: null }, null)
  // Tells every process working on the run, which stops when the grace is over.
  if (how === 'waiting') await announceRun(tx, run.id)
}
