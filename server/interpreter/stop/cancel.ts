import { and, eq, isNotNull, isNull, ne } from 'drizzle-orm'
import { pauses, stepRecords } from '@/db/schema/runs'
import type { ServiceContext } from '../../context'
import type { Cancellation, Receipt } from '../../definition/run'
import { env } from '../../env'
import { emit } from '../../outbox'
import { isAttempting } from '../../run-store/attempts'
import { pausesOf, recordsOf } from '../../run-store/conditions'
import { definitionOf } from '../../run-store/definition'
import type { Held } from '../../run-store/held'
import { CLEANUP_BRANCH, pauseIdOf, type Visit, type WalkRef } from '../../run-store/names'
import type { RunRow } from '../../run-store/walk-data'
import { findStepType } from '../../steps/registry'
import {
  cancellationOf,
  endingOf,
  isCancelling,
  type RunToStop,
  runToStop,
  STOPPED,
  stopFailure,
  stoppedEnding,
} from '../flow/stopping'
import type { Ending, WalkState } from '../flow/types'
import { announceRun } from '../notice/announce'
import { closeRun } from '../write/close'
import { failedStep, finishVisit, moveRun, moveWalk } from '../write/held'
import { signalEngineWaits } from '../write/request'
import { insertCleanup, markCancelled } from '../write/stops'
import { childrenDue, endOpenWork } from './open-work'

/** Asks an open run to stop that was not asked before, and carries that out as far as possible now. */
export async function askToCancel(tx: Held, run: RunRow, cancellation: Cancellation): Promise<void> {
  const asked = await markCancelled(tx, run, cancellation)
  const definition = await definitionOf(tx, run)
  const how = await carryOutCancel(tx, { run: asked, definition, written: null }, null)
  // Notifies every process working on the run; each stops when the grace period is over.
  if (how === 'waiting') await announceRun(tx, run.id)
}

/**
 * Carries out a requested cancel as far as possible now. While a step is still running elsewhere, only the given walk
 * ends; recording that step leads back here. Otherwise open steps end as cancelled and the cleanup path starts, once;
 * without a cleanup path the run closes.
 * @param from the walk that noticed the cancel, and the step it would have visited next
 * @param options.force do not wait for running steps: their grace period is over, and late results are rejected
 */
export async function carryOutCancel(
  tx: Held,
  stopping: RunToStop,
  from: { ref: WalkRef; next: string | null } | null,
  options: { force?: boolean } = {},
): Promise<'waiting' | 'cleaning' | 'closed'> {
  const { run, definition, written } = stopping
  if (run.cleanupStartedAt) return 'cleaning'
  if (from) await moveWalk(tx, from.ref, { status: 'ended', stepId: from.next })
  if (!options.force && (await isAtWork(tx, run))) {
    await moveRun(tx, { tenantId: run.tenantId, runId: run.id }, { status: 'running', written })
    await childrenDue(tx, run)
    return 'waiting'
  }
  const waited = await endOpenWork(tx, run, stopFailure(cancellationOf(run)))
  await signalEngineWaits(tx, run, waited)
  if (definition.onCancel === undefined) {
    await closeStopped(tx, stopping, cancellationOf(run))
    return 'closed'
  }
  await beginCleanup(tx, stopping, definition.onCancel)
  return 'cleaning'
}

async function beginCleanup(tx: Held, { run, written }: RunToStop, stepId: string): Promise<void> {
  const walk = await insertCleanup(tx, run, written, stepId)
  if (!walk) return
  await emit(tx, 'workflow/walk.requested', walk)
  await announceRun(tx, run.id)
}

/** Ends a run whose walk has reached its end, unless a cancel takes precedence. */
export async function endRun(tx: Held, state: WalkState, ending: Ending): Promise<void> {
  if (isCancelling(state)) await carryOutCancel(tx, runToStop(state), { ref: state.ref, next: null })
  else await closeRun(tx, state.run, endingOf(state, ending))
}

/** Closes a run as cancelled or terminated. Its open steps and pauses must have ended already. */
export async function closeStopped(
  tx: Held,
  stopping: Pick<RunToStop, 'run' | 'written'>,
  cancellation: Cancellation,
): Promise<void> {
  const { run } = stopping
  await closeRun(tx, run, stoppedEnding(stopping, cancellation))
}

/** Whether an attempt is running that was neither recorded nor given up, or an answer was not consumed yet. */
async function isAtWork(tx: Held, run: RunRow): Promise<boolean> {
  const open = await tx.db
    .select({ stepType: stepRecords.stepType, attempt: stepRecords.attempt, attempts: stepRecords.attempts })
    .from(stepRecords)
    .where(and(recordsOf(run), isNull(stepRecords.endTime), ne(stepRecords.branch, CLEANUP_BRANCH)))
  const working = open.some((visit) => findStepType(visit.stepType)?.mode === 'effect' && isAttempting(visit))
  if (working) return true
  const [answered] = await tx.db
    .select({ id: pauses.id })
    .from(pauses)
    .where(and(pausesOf(run), isNotNull(pauses.answeredAt), isNull(pauses.consumedAt)))
    .limit(1)
  return answered !== undefined
}

/**
 * How long the cleanup path may still take, in milliseconds; unlimited for other walks. Counts only its attempts and
 * the waits between them, so time in which no process ran does not cut a cleanup short.
 */
export async function cleanupTimeLeft(ctx: ServiceContext, ref: WalkRef): Promise<number> {
  if (ref.branch !== CLEANUP_BRANCH) return Number.POSITIVE_INFINITY
  const rows = await ctx.db
    .select({ attempts: stepRecords.attempts })
    .from(stepRecords)
    .where(
      and(
        eq(stepRecords.tenantId, ref.tenantId),
        eq(stepRecords.runId, ref.runId),
        eq(stepRecords.branch, CLEANUP_BRANCH),
      ),
    )
  const spent = rows
    .flatMap((row) => row.attempts)
    .reduce((sum, at) => sum + Date.parse(at.endTime) - Date.parse(at.startTime) + (at.retryInMs ?? 0), 0)
  return env().CANCEL_CLEANUP_MS - spent
}

/** Carries out a cancel at a step that waits: for a person, for a time, or for its branches. */
export async function stopAtOpen(tx: Held, state: WalkState, at: Visit): Promise<Receipt> {
  const failed = failedStep(at, stopFailure(cancellationOf(state.run)), tx.now())
  // The pause may have expired without a record yet.
  const pauseId = pauseIdOf(state.ref.branch, at)
  await finishVisit(tx, state.ref, { ...failed, pauseId }, STOPPED.receipt)
  await carryOutCancel(tx, runToStop(state), { ref: state.ref, next: null })
  return STOPPED.receipt
}
