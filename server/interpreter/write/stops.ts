import { type AnyColumn, and, eq, isNull, ne, type SQL, sql } from 'drizzle-orm'
import { pauses, runs, stepRecords, walks } from '@/db/schema/runs'
import type { Cancellation } from '../../definition/run'
import { isRun, pausesOf, recordsOf, walksOf } from '../../run-store/conditions'
import type { Held } from '../../run-store/held'
import { CLEANUP_BRANCH, type WalkRef } from '../../run-store/names'
import { dataColumns, type Written } from '../../run-store/run-data'
import type { RunRow } from '../../run-store/walk-data'
import { failed } from '../flow/sizes'
import { STOPPED } from '../flow/stopping'

/** Marks a run as about to stop. */
export async function markCancelled(tx: Held, run: RunRow, cancellation: Cancellation): Promise<RunRow> {
  const now = tx.now()
  await tx.db.update(runs).set({ cancelRequestedAt: now, cancellation, updatedAt: now }).where(isRun(run))
  return { ...run, cancelRequestedAt: now, cancellation }
}

/**
 * Begins the cleanup of a run, once.
 * @param stepId its first step
 * @returns its requested walk; null if it began before, or the run has ended
 */
export async function insertCleanup(
  tx: Held,
  run: RunRow,
  written: Written | null,
  stepId: string,
): Promise<WalkRef | null> {
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
  if (begun.length === 0) return null
  const walk = { tenantId: run.tenantId, runId: run.id, branch: CLEANUP_BRANCH, epoch: 1, segment: 1 }
  await tx.db.insert(walks).values({ ...walk, status: 'requested', stepId, visit: 1, updatedAt: now })
  return walk
}

/** The branches that a stop concerns: all, or those with this prefix. */
export function within(branch: AnyColumn, prefix: string): SQL | undefined {
  return prefix === '' ? undefined : sql`starts_with(${branch}, ${prefix})`
}

/** Ends the open visits of a run, or of some branches. */
export async function endVisits(
  tx: Held,
  run: RunRow,
  failure: { code: string; message: string },
  prefix: string,
): Promise<void> {
  await tx.db
    .update(stepRecords)
    .set({ status: 'failed', endTime: tx.now(), outputData: {}, ...failed(failure), receipt: STOPPED.receipt })
    .where(and(recordsOf(run), isNull(stepRecords.endTime), within(stepRecords.branch, prefix)))
}

/**
 * Closes the pauses whose answer no walk has taken.
 * @returns their branches
 */
export async function closePauses(tx: Held, run: RunRow, prefix: string): Promise<string[]> {
  const now = tx.now()
  const closed = await tx.db
    .update(pauses)
    .set({ answeredAt: sql`coalesce(${pauses.answeredAt}, ${now.toISOString()}::timestamptz)`, consumedAt: now })
    .where(and(pausesOf(run), isNull(pauses.consumedAt), within(pauses.branch, prefix)))
    .returning({ branch: pauses.branch })
  return closed.map(({ branch }) => branch)
}

/** Ends the walks of a run, or of some branches; from then on only the stop counts for them. Their epoch rises. */
export async function endWalks(tx: Held, run: RunRow, prefix: string): Promise<void> {
  // Queued branches have not begun, and may be very many.
  await tx.db.delete(walks).where(and(walksOf(run), eq(walks.status, 'queued'), within(walks.branch, prefix)))
  await tx.db
    .update(walks)
    .set({
      status: 'ended',
      epoch: sql`${walks.epoch} + 1`,
      updatedAt: tx.now(),
      ...(prefix === '' ? {} : { arrival: null }),
    })
    .where(and(walksOf(run), ne(walks.status, 'ended'), within(walks.branch, prefix)))
}
