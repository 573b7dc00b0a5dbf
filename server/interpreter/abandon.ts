import { type ServiceContext, type TransactionContext, withTransaction } from '../context'
import type { JsonObject } from '../definition/json'
import { emit } from '../outbox'
import { closeRun } from './close'
import { lockPlace, type RunRow } from './place'
import type { WalkRef } from './receipt'
import { cancellationOf, closeStopped, endOpenWork } from './stop'

interface WalkFailure {
  code: string
  message: string
}

/** The engine could not call the walk in 20 attempts. */
const GAVE_UP: WalkFailure = { code: 'ENGINE_GAVE_UP', message: 'The engine could not carry the run on.' }

/**
 * Ends the run of a walk that cannot go on, rather than let it hang.
 * @param reason for the log
 */
export async function abandonWalk(
  ctx: ServiceContext,
  ref: WalkRef,
  reason: unknown,
  failure: WalkFailure = GAVE_UP,
): Promise<void> {
  await withTransaction(ctx, async (tx) => {
    const locked = await lockPlace(tx, ref, { stepId: '', visit: 0 }, { unclaimed: true })
    if ('stop' in locked) return
    ctx.log.error({ err: reason, runId: ref.runId, code: failure.code }, 'a walk was given up')
    await abandonRun(tx, locked.place.run, failure)
    // Whatever of the engine waits for an answer would wait for ever.
    await emit(tx, 'workflow/run.woken', { tenantId: ref.tenantId, runId: ref.runId })
  })
}

/** Ends a locked run that nothing carries on any more: as failed, or as cancelled where that was asked for. */
export async function abandonRun(tx: TransactionContext, run: RunRow, failure: WalkFailure = GAVE_UP): Promise<void> {
  const data = run.data as JsonObject
  await endOpenWork(tx, run, failure)
  if (run.cancelRequestedAt) {
    const cleanup = run.cleanupStartedAt ? { cleanup: 'failed' as const } : {}
    return closeStopped(tx, { run, data }, { ...cancellationOf(run), ...cleanup })
  }
  const ref = { tenantId: run.tenantId, runId: run.id }
  const error = { ...failure, stepId: run.currentStepId }
  return closeRun(tx, ref, { status: 'failed', outcome: 'failed', data, error, stepId: run.currentStepId })
}
