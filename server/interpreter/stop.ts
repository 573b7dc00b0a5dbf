import { type AnyColumn, and, eq, inArray, isNotNull, isNull, ne, type SQL, sql } from 'drizzle-orm'
import { pauses, runs, stepRecords, walks } from '@/db/schema/runs'
import type { ServiceContext, TransactionContext } from '../context'
import { isBranch } from '../definition/branches'
import type { Cancellation, Failing, Receipt } from '../definition/run'
import type { Definition } from '../definition/schema'
import { env } from '../env'
import { ImpossibleState } from '../errors'
import { emit } from '../outbox'
import { asksSomebody } from '../run-store/conditions'
import { CLEANUP_BRANCH, type WalkRef } from '../run-store/names'
import { dataColumns, type Written } from '../run-store/run-data'
import type { RunRow } from '../run-store/walk-data'
import { findStepType } from '../steps/registry'
import { announceRun } from './announce'
import { closeRun, type Ending } from './close'
import { failed } from './output'
import { wakeWaits } from './wake'
import type { WalkState } from './walk-state'

/** A run whose row is locked. */
interface HeldRun {
  run: RunRow
  definition: Definition
  /** The run data to keep, if it differs from what is stored. */
  written: Written | null
}

/** Whether a walk must stop because its run was cancelled; the cleanup path itself continues. */
export function isCancelling(state: WalkState): boolean {
  return state.run.cancelRequestedAt !== null && state.ref.branch !== CLEANUP_BRANCH
}

/** The run as a stop records it: what a branch has written is not part of the run's data. */
export function heldBy(state: WalkState): HeldRun & { ref: WalkState['ref'] } {
  const { run, definition, ref } = state
  return { run, definition, ref, written: isBranch(ref.branch) ? null : state }
}

/** Tells a walk to stop. */
export const STOPPED = { receipt: { stop: 'ended' }, begun: null } as const satisfies { receipt: Receipt; begun: null }

const WORDS = {
  cancel: { outcome: 'cancelled', code: 'CANCELLED', verb: 'Cancelled' },
  terminate: { outcome: 'terminated', code: 'TERMINATED', verb: 'Terminated' },
} as const

/** The error of a stopped step and of its run. */
export function stopFailure({ kind, reason }: Pick<Cancellation, 'kind' | 'reason'>): {
  code: string
  message: string
} {
  const { code, verb } = WORDS[kind]
  return { code, message: reason ? `${verb}: ${reason}` : verb }
}

export function cancellationOf(run: RunRow): Cancellation {
  if (run.cancellation === null) throw new ImpossibleState('cancel-of-nobody', `${run.id} was not asked to stop`)
  return run.cancellation
}

/**
 * Carries out a requested cancel as far as possible now. While a step is still running elsewhere, only the given walk
 * ends; recording that step leads back here. Otherwise open steps end as cancelled and the cleanup path starts, once;
 * without a cleanup path the run closes.
 * @param from the walk that noticed the cancel, and the step it would have visited next
 * @param options.force do not wait for running steps: their grace period is over, and late results are rejected
 */
export async function settleCancel(
  tx: TransactionContext,
  held: HeldRun,
  from: { ref: WalkRef; next: string | null } | null,
  options: { force?: boolean } = {},
): Promise<'waiting' | 'cleaning' | 'closed'> {
  const { run, definition, written } = held
  const now = tx.now()
  if (run.cleanupStartedAt) return 'cleaning'
  if (from) {
    await tx.db
      .update(walks)
      .set({ status: 'ended', updatedAt: now, ...(from.next === null ? {} : { stepId: from.next }) })
      .where(and(ofWalks(run), eq(walks.branch, from.ref.branch)))
  }
  if (!options.force && (await isAtWork(tx, run))) {
    await tx.db
      .update(runs)
      .set({ status: 'running', ...(written ? dataColumns(written) : {}), updatedAt: now })
      .where(isRun(run))
    await childrenDue(tx, run)
    return 'waiting'
  }
  const waited = await endOpenWork(tx, run, stopFailure(cancellationOf(run)))
  await wakeWaits(tx, run, waited)
  if (definition.onCancel === undefined) {
    await closeStopped(tx, held, cancellationOf(run))
    return 'closed'
  }
  await beginCleanup(tx, held, definition.onCancel)
  return 'cleaning'
}

async function beginCleanup(tx: TransactionContext, { run, written }: HeldRun, stepId: string): Promise<void> {
  const { tenantId, id: runId } = run
  const now = tx.now()
  const begun = await tx.db
    .update(runs)
    .set({
      status: 'running',
      ...(written ? dataColumns(written) : {}),
      cleanupStartedAt: now,
      updatedAt: now,
    })
    .where(and(isRun(run), isNull(runs.cleanupStartedAt), isNull(runs.endTime)))
    .returning({ id: runs.id })
  if (begun.length === 0) return
  const state = { tenantId, runId, branch: CLEANUP_BRANCH, epoch: 1, segment: 1 }
  await tx.db.insert(walks).values({ ...state, status: 'requested', stepId, visit: 1, updatedAt: now })
  await emit(tx, 'workflow/walk.requested', state)
  await announceRun(tx, runId)
}

/** Ends a run whose walk has reached its end, unless a cancel takes precedence. */
export async function endRun(tx: TransactionContext, state: WalkState, ending: Ending): Promise<void> {
  if (isCancelling(state)) await settleCancel(tx, heldBy(state), { ref: state.ref, next: null })
  else await closeRun(tx, state.ref, endingOf(state, ending))
}

/** How a run ends when its walk does: as cancelled after its cleanup path, and as failed after its failure path. */
export function endingOf({ run, ref }: Pick<WalkState, 'run' | 'ref'>, ending: Ending): Ending {
  if (ref.branch !== CLEANUP_BRANCH) return run.failing ? failedEnding(run.failing, ending) : ending
  const cleanup = ending.status === 'completed' ? 'completed' : 'failed'
  return stoppedEnding({ run, written: ending.written }, { ...cancellationOf(run), cleanup })
}

/** The end of a failure path is the end of the run, as it failed before. */
function failedEnding({ outcome, ...error }: Failing, { written }: Ending): Ending {
  return { status: 'failed', outcome, written, error, stepId: error.stepId }
}

/** Closes a run as cancelled or terminated. Its open steps and pauses must have ended already. */
export async function closeStopped(
  tx: TransactionContext,
  held: Pick<HeldRun, 'run' | 'written'>,
  cancellation: Cancellation,
): Promise<void> {
  const { run } = held
  await closeRun(tx, { tenantId: run.tenantId, runId: run.id }, stoppedEnding(held, cancellation))
}

function stoppedEnding({ run, written }: Pick<HeldRun, 'run' | 'written'>, cancellation: Cancellation): Ending {
  const error = { ...stopFailure(cancellation), stepId: run.currentStepId }
  return { status: 'failed', outcome: WORDS[cancellation.kind].outcome, written, error, cancellation, stepId: null }
}

/**
 * Ends every open step, pause and walk of a run. The walks' epoch rises, so results of work still running no longer
 * count.
 * @returns the walks that had an open pause
 */
export async function endOpenWork(
  tx: TransactionContext,
  run: RunRow,
  failure: { code: string; message: string },
): Promise<string[]> {
  return endWithin(tx, run, failure, '')
}

/** Ends the branches of a fork that still run, with everything in them, as `endOpenWork` does for the whole run. */
export async function stopBranches(
  tx: TransactionContext,
  run: RunRow,
  scopeId: string,
  failure: { code: string; message: string },
): Promise<string[]> {
  const waited = await endWithin(tx, run, failure, `${scopeId}/`)
  const asks = asksSomebody({ tenantId: run.tenantId, runId: run.id })
  await tx.db
    .update(runs)
    .set({ status: sql`case when ${asks} then 'paused' else 'running' end`, updatedAt: tx.now() })
    .where(isRun(run))
  // Every process that works on a stopped branch is notified and stops.
  await announceRun(tx, run.id)
  return waited
}

/** Has the child runs settled that steps of this run started or are about to start: nothing waits for them any more. */
async function childrenDue(tx: TransactionContext, run: RunRow, within?: SQL): Promise<void> {
  const left = await tx.db
    .select({ childRunId: pauses.childRunId })
    .from(pauses)
    .where(
      and(
        eq(pauses.tenantId, run.tenantId),
        eq(pauses.runId, run.id),
        inArray(pauses.childState, ['due', 'started']),
        within,
      ),
    )
  for (const { childRunId } of left)
    if (childRunId) await emit(tx, 'workflow/child.due', { tenantId: run.tenantId, runId: childRunId })
}

async function endWithin(
  tx: TransactionContext,
  run: RunRow,
  failure: { code: string; message: string },
  prefix: string,
): Promise<string[]> {
  const now = tx.now()
  const within = (branch: AnyColumn) => (prefix === '' ? undefined : sql`starts_with(${branch}, ${prefix})`)
  await tx.db
    .update(stepRecords)
    .set({
      status: 'failed',
      endTime: now,
      outputData: {},
      ...failed(failure),
      receipt: { stop: 'ended' },
    })
    .where(and(ofRecords(run), isNull(stepRecords.endTime), within(stepRecords.branch)))
  const asked = await tx.db
    .update(pauses)
    .set({ answeredAt: sql`coalesce(${pauses.answeredAt}, ${now.toISOString()}::timestamptz)`, consumedAt: now })
    .where(
      and(
        eq(pauses.tenantId, run.tenantId),
        eq(pauses.runId, run.id),
        isNull(pauses.consumedAt),
        within(pauses.branch),
      ),
    )
    .returning({ branch: pauses.branch })
  await childrenDue(tx, run, within(pauses.branch))
  // Queued branches have not begun, and there may be very many of them.
  await tx.db.delete(walks).where(and(ofWalks(run), eq(walks.status, 'queued'), within(walks.branch)))
  await tx.db
    .update(walks)
    .set({
      status: 'ended',
      epoch: sql`${walks.epoch} + 1`,
      updatedAt: now,
      ...(prefix === '' ? {} : { arrival: null }),
    })
    .where(and(ofWalks(run), ne(walks.status, 'ended'), within(walks.branch)))
  return asked.map(({ branch }) => branch)
}

/** Whether an attempt is running that was neither recorded nor given up, or an answer has not been consumed yet. */
async function isAtWork(tx: TransactionContext, run: RunRow): Promise<boolean> {
  const open = await tx.db
    .select({ stepType: stepRecords.stepType, attempt: stepRecords.attempt, attempts: stepRecords.attempts })
    .from(stepRecords)
    .where(and(ofRecords(run), isNull(stepRecords.endTime), ne(stepRecords.branch, CLEANUP_BRANCH)))
  const working = open.some(
    ({ stepType, attempt, attempts }) => findStepType(stepType)?.mode === 'effect' && attempt > attempts.length,
  )
  if (working) return true
  const [answered] = await tx.db
    .select({ id: pauses.id })
    .from(pauses)
    .where(
      and(
        eq(pauses.tenantId, run.tenantId),
        eq(pauses.runId, run.id),
        isNotNull(pauses.answeredAt),
        isNull(pauses.consumedAt),
      ),
    )
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

function isRun(run: RunRow) {
  return and(eq(runs.tenantId, run.tenantId), eq(runs.id, run.id))
}

function ofRecords(run: RunRow) {
  return and(eq(stepRecords.tenantId, run.tenantId), eq(stepRecords.runId, run.id))
}

function ofWalks(run: RunRow) {
  return and(eq(walks.tenantId, run.tenantId), eq(walks.runId, run.id))
}
