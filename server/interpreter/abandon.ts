import { type ServiceContext, type TransactionContext, withTransaction } from '../context'
import { closeRun } from './close'
import { lockPlace, type RunRow } from './place'
import type { WalkRef } from './receipt'
import { cancellationOf, closeStopped, endOpenWork } from './stop'

/** The engine gave a walk up (it could not be called in 20 attempts): the run ends rather than hang. */
export async function abandonWalk(ctx: ServiceContext, ref: WalkRef, reason: string): Promise<void> {
  await withTransaction(ctx, async (tx) => {
    const locked = await lockPlace(tx, ref, { stepId: '', visit: 0 })
    if ('stop' in locked) return
    ctx.log.error({ runId: ref.runId, reason }, 'the engine gave a walk up')
    await abandonRun(tx, locked.place.run)
  })
}

/** Ends a locked run that nothing carries on any more: as failed, or as cancelled where that was asked for. */
export async function abandonRun(tx: TransactionContext, run: RunRow): Promise<void> {
  const failure = { code: 'ENGINE_GAVE_UP', message: 'The engine could not carry the run on.' }
  const data = run.data
  await endOpenWork(tx, run, failure)
  if (run.cancelRequestedAt) {
    const cleanup = run.cleanupStartedAt ? { cleanup: 'failed' as const } : {}
    return closeStopped(tx, { run, data }, { ...cancellationOf(run), ...cleanup })
  }
  const ref = { tenantId: run.tenantId, runId: run.id }
  const error = { ...failure, stepId: run.currentStepId }
  return closeRun(tx, ref, { status: 'failed', outcome: 'failed', data, error, stepId: run.currentStepId })
}
