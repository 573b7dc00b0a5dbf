import { and, eq, isNull, sql } from 'drizzle-orm'
import { pauses, runs, stepRecords, walks } from '@/db/schema/runs'
import { reasonOf as innermostReason } from '@/db/wait'
import { furthestAttempt } from '../../agents/journal/read'
import { type ServiceContext, withTransaction } from '../../context'
import { recordOfPause, walkIs } from '../../run-store/conditions'
import { type Held, holdAndRead } from '../../run-store/held'
import type { WalkClaim } from '../../run-store/names'
import type { RunRow } from '../../run-store/walk-data'
import { findStepType } from '../../steps/registry'
import { cancellationOf } from '../flow/stopping'
import { configOf } from '../plan/state'
import { attemptLimit, triesOf } from '../plan/tries'
import { closeRun } from '../write/close'
import { moveWalk } from '../write/held'
import { NEW_EPOCH, requestWalk, signalEngineWaits } from '../write/request'
import { closeStopped } from './cancel'
import { endOpenWork } from './open-work'

interface Reason {
  code: string
  message: string
}

/** The embedded engine's error for a job whose process never returned it. */
const WORKER_LOST = 'WorkerLost'

/**
 * Ends the run of a walk that cannot continue, so it does not hang. Changes nothing if another engine run has the walk.
 * @param cause for the log
 * @param failure a failure that every further call would repeat. Without it the engine has given up its run, for
 * instance because that run is as old as its plan allows: a walk that waits at a pause is unaffected, and continues
 */
export async function failWalk(ctx: ServiceContext, ref: WalkClaim, cause: Error, failure?: Reason): Promise<void> {
  await withTransaction(ctx, async (tx) => {
    const read = tx.db
      .select({ run: runs, walk: walks })
      .from(runs)
      .innerJoin(walks, and(eq(walks.tenantId, runs.tenantId), eq(walks.runId, runs.id), eq(walks.branch, ref.branch)))
      .where(and(eq(runs.tenantId, ref.tenantId), eq(runs.id, ref.runId)))
    const [held, [found]] = await holdAndRead(tx, ref, read)
    // Also a `requested` walk: its first step may kill the process before the walk is claimed. A walk that waits at a
    // pause, or for its branches, needs no engine run.
    if (!found || found.run.endTime || ['ended', 'resting', 'waiting'].includes(found.walk.status)) return
    const owner = found.walk.engineRunId
    if (found.walk.epoch !== ref.epoch || found.walk.segment !== ref.segment) return
    if (owner !== null && owner !== ref.engineRunId) return
    if (!failure && (await outlivesItsEngineRun(held, ref, found, cause))) return
    const reason = failure ?? reasonOf(cause)
    ctx.log.error({ runId: ref.runId, code: reason.code, reason: innermostReason(cause) }, 'a walk was abandoned')
    await abandonRun(held, found.run, reason)
  })
}

/**
 * Lets a walk at a pause continue without the engine run that waited there: it rests until the answer requests it. If
 * it is answered already, or the pause was still being opened, another engine run continues it, once.
 */
async function outlivesItsEngineRun(
  tx: Held,
  ref: WalkClaim,
  { run, walk }: { run: RunRow; walk: typeof walks.$inferSelect },
  { name }: Error,
): Promise<boolean> {
  if (run.cancelRequestedAt) return false
  const [at] = await tx.db
    .select({ record: stepRecords, pauseId: pauses.id, answeredAt: pauses.answeredAt })
    .from(stepRecords)
    .leftJoin(pauses, recordOfPause)
    .where(
      and(
        eq(stepRecords.tenantId, ref.tenantId),
        eq(stepRecords.runId, ref.runId),
        eq(stepRecords.branch, ref.branch),
        isNull(stepRecords.endTime),
      ),
    )
  if (!at) return false
  if (await comesFurther(tx, ref, walk, at.record)) {
    tx.log.warn(
      { runId: ref.runId },
      'the engine gave up a run whose step comes further each time; it was requested again',
    )
    return (await requestWalk(tx, ref, walkIs(ref), NEW_EPOCH)) !== null
  }
  if (findStepType(at.record.stepType)?.mode !== 'pause') return false
  if (at.pauseId !== null && at.answeredAt === null) {
    tx.log.warn({ runId: ref.runId }, 'the engine gave up a run that waits at a pause; the answer requests it again')
    await moveWalk(tx, ref, { status: 'resting' })
    return true
  }
  // The steps after the answer may kill each process, or fail each call.
  if (name === WORKER_LOST || walk.restarts > 0) return false
  tx.log.warn({ runId: ref.runId }, 'the engine gave up a run at a pause; it was requested again')
  return (await requestWalk(tx, ref, walkIs(ref), { ...NEW_EPOCH, restarts: sql`${walks.restarts} + 1` })) !== null
}

/**
 * Whether the step of a walk may make another attempt although its processes died, because it has recorded calls
 * meanwhile. Each engine run makes attempts before it is given up; a walk that was requested more often has another
 * problem.
 */
async function comesFurther(
  tx: Held,
  ref: WalkClaim,
  { epoch }: Pick<typeof walks.$inferSelect, 'epoch'>,
  record: typeof stepRecords.$inferSelect,
): Promise<boolean> {
  const type = findStepType(record.stepType)
  if (type?.mode !== 'effect' || !type.inParts || epoch > record.attempt) return false
  const { stepId, visit, attempt, attempts } = record
  const at = { stepId, visit }
  if ((await furthestAttempt(tx, { ...ref, ...at })) === 0) return false
  const next = { state: { ref }, at, type, config: configOf(record), attempt: attempt + 1, attempts }
  return (await triesOf(tx, next)) <= attemptLimit(next)
}

function reasonOf({ name }: Error): Reason {
  return name === WORKER_LOST
    ? { code: 'WORKER_LOST', message: 'The run was stopped because the process running it kept crashing at this step.' }
    : { code: 'ENGINE_GAVE_UP', message: 'The run could not continue, even after many retries.' }
}

/** Ends a locked run that nothing will continue: as cancelled if that was requested, otherwise as failed. */
export async function abandonRun(tx: Held, run: RunRow, reason: Reason): Promise<void> {
  await signalEngineWaits(tx, run, await endOpenWork(tx, run, reason))
  if (run.cancelRequestedAt) {
    const cleanup = run.cleanupStartedAt ? { cleanup: 'failed' as const } : {}
    return closeStopped(tx, { run, written: null }, { ...cancellationOf(run), ...cleanup })
  }
  const { outcome, ...error } = run.failing ?? { ...reason, stepId: run.currentStepId, outcome: 'failed' as const }
  return closeRun(tx, run, { status: 'failed', outcome, written: null, error, stepId: run.currentStepId })
}
