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

/** What the embedded engine calls the error of a job that never came back from its process. */
const WORKER_LOST = 'WorkerLost'

/**
 * Ends the run of a walk that cannot go on, rather than let it hang. The walk may not be claimed yet: its first step may
 * be what kills the process.
 * @param failure what the run says; unless given, why the engine gave the walk up
 */
export async function abandonWalk(
  ctx: ServiceContext,
  ref: WalkRef,
  cause: unknown,
  failure: WalkFailure = failureOf(cause),
): Promise<void> {
  await withTransaction(ctx, async (tx) => {
    const locked = await lockPlace(tx, ref, { stepId: '', visit: 0 }, { unclaimed: true })
    if ('stop' in locked) return
    ctx.log.error({ err: cause, runId: ref.runId, code: failure.code }, 'a walk was given up')
    await abandonRun(tx, locked.place.run, failure)
    // Anything of the engine that waits for an answer would wait for ever.
    await emit(tx, 'workflow/run.woken', { tenantId: ref.tenantId, runId: ref.runId })
  })
}

function failureOf(cause: unknown): WalkFailure {
  return cause instanceof Error && cause.name === WORKER_LOST
    ? { code: 'WORKER_LOST', message: 'The run was stopped because the process running it kept crashing at this step.' }
    : { code: 'ENGINE_GAVE_UP', message: 'The run could not go on, although it was tried many times.' }
}

/** Ends a locked run that nothing carries on any more: as failed, or as cancelled where that was asked for. */
export async function abandonRun(tx: TransactionContext, run: RunRow, failure: WalkFailure): Promise<void> {
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
