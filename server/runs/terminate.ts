import { and, eq, sql } from 'drizzle-orm'
import { runs } from '@/db/schema/runs'
import { authorize } from '../auth/policy'
import { type ServiceContext, withTransaction } from '../context'
import type { JsonObject } from '../definition/json'
import { getRunRow } from '../interpreter/find-run'
import { closeStopped, endOpenWork, stopFailure } from '../interpreter/stop'
import { emit } from '../outbox'
import { parseInput } from '../parse'
import { StopRun } from './schema'
import { lockRunToStop, newCancellation, presentStop } from './stop'

/**
 * Ends a run here and now, with no cleanup. What its steps still do is aborted in every process, and their
 * results count no more. Also ends a run whose cancel is under way.
 * @throws AppError RUN_NOT_FOUND, RUN_ALREADY_ENDED, INVALID_INPUT
 */
export async function terminateRun(ctx: ServiceContext, input: unknown) {
  authorize(ctx, 'run:terminate')
  const request = parseInput(StopRun, input)
  return withTransaction(ctx, async (tx) => {
    const run = await lockRunToStop(tx, request)
    if (run.endTime) return presentStop(run)
    const cancellation = newCancellation(tx, 'terminate', request.reason)
    await tx.db
      .update(runs)
      .set({ epoch: sql`${runs.epoch} + 1` })
      .where(and(eq(runs.tenantId, tx.tenantId), eq(runs.id, run.id)))
    await endOpenWork(tx, run, stopFailure(cancellation))
    await closeStopped(tx, { run, data: run.data as JsonObject }, cancellation)
    await emit(tx, 'workflow/run.terminated', { tenantId: tx.tenantId, runId: run.id })
    return presentStop(await getRunRow(tx, run.id))
  })
}
