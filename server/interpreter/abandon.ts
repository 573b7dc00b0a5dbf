import { and, eq } from 'drizzle-orm'
import { runs, walks } from '@/db/schema/runs'
import { reasonOf as innermostReason } from '@/db/wait'
import { type ServiceContext, type TransactionContext, withTransaction } from '../context'
import { closeRun } from './close'
import type { WalkClaim } from './receipt'
import { cancellationOf, closeStopped, endOpenWork } from './stop'
import { wakeWaits } from './wake'
import { type RunRow, readLocked } from './walk-state'

interface Reason {
  code: string
  message: string
}

/** The embedded engine's error for a job that never came back from its process. */
const WORKER_LOST = 'WorkerLost'

/**
 * Ends the run of a walk that cannot continue, so it does not hang. Changes nothing if another engine run has the walk.
 * @param cause for the log; by default the error with which the engine gave up
 */
export async function abandonWalk(
  ctx: ServiceContext,
  ref: WalkClaim,
  cause: Error,
  reason: Reason = reasonOf(cause),
): Promise<void> {
  await withTransaction(ctx, async (tx) => {
    const read = tx.db
      .select({ run: runs, walk: walks })
      .from(runs)
      .innerJoin(walks, and(eq(walks.tenantId, runs.tenantId), eq(walks.runId, runs.id), eq(walks.branch, ref.branch)))
      .where(and(eq(runs.tenantId, ref.tenantId), eq(runs.id, ref.runId)))
    const [found] = await readLocked(tx, ref, read)
    // A `requested` walk too: its first step may be what kills the process, before the walk is claimed. A walk that
    // waits at a pause, or for its branches, needs no engine run.
    if (!found || found.run.endTime || ['ended', 'resting', 'waiting'].includes(found.walk.status)) return
    const owner = found.walk.engineRunId
    if (found.walk.epoch !== ref.epoch || found.walk.segment !== ref.segment) return
    if (owner !== null && owner !== ref.engineRunId) return
    ctx.log.error({ runId: ref.runId, code: reason.code, reason: innermostReason(cause) }, 'a walk was abandoned')
    await abandonRun(tx, found.run, reason)
  })
}

function reasonOf({ name }: Error): Reason {
  return name === WORKER_LOST
    ? { code: 'WORKER_LOST', message: 'The run was stopped because the process running it kept crashing at this step.' }
    : { code: 'ENGINE_GAVE_UP', message: 'The run could not continue, even after many retries.' }
}

/** Ends a locked run that nothing will continue: as cancelled if that was requested, otherwise as failed. */
export async function abandonRun(tx: TransactionContext, run: RunRow, reason: Reason): Promise<void> {
  await wakeWaits(tx, run, await endOpenWork(tx, run, reason))
  if (run.cancelRequestedAt) {
    const cleanup = run.cleanupStartedAt ? { cleanup: 'failed' as const } : {}
    return closeStopped(tx, { run, written: null }, { ...cancellationOf(run), ...cleanup })
  }
  const ref = { tenantId: run.tenantId, runId: run.id }
  const { outcome, ...error } = run.failing ?? { ...reason, stepId: run.currentStepId, outcome: 'failed' as const }
  return closeRun(tx, ref, { status: 'failed', outcome, written: null, error, stepId: run.currentStepId })
}
