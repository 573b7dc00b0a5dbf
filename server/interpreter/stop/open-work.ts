import { type AnyColumn, and, eq, inArray, isNull, ne, type SQL, sql } from 'drizzle-orm'
import { pauses, stepRecords, walks } from '@/db/schema/runs'
import { emit } from '../../outbox'
import { pausesOf, recordsOf, walksOf } from '../../run-store/conditions'
import type { Held } from '../../run-store/held'
import type { RunRow } from '../../run-store/walk-data'
import { failedVisit } from '../flow/sizes'
import { STOPPED } from '../flow/stopping'
import { announceRun } from '../notice/announce'
import { settleStatus } from '../write/store-answer'

/**
 * Ends every open step, pause and walk of a run. The walks' epoch rises, so results of work still running no longer
 * count.
 * @returns the walks that had an open pause
 */
export async function endOpenWork(
  tx: Held,
  run: RunRow,
  failure: { code: string; message: string },
): Promise<string[]> {
  return endWithin(tx, run, failure, '')
}

/** Ends the branches of a fork that still run, with everything in them, as `endOpenWork` does for the whole run. */
export async function stopBranches(
  tx: Held,
  run: RunRow,
  scopeId: string,
  failure: { code: string; message: string },
): Promise<string[]> {
  const waited = await endWithin(tx, run, failure, `${scopeId}/`)
  await settleStatus(tx, { tenantId: run.tenantId, runId: run.id })
  // Every process that works on a stopped branch is notified and stops.
  await announceRun(tx, run.id)
  return waited
}

/** Has the child runs settled that steps of this run started or are about to start: nothing waits for them any more. */
export async function childrenDue(tx: Held, run: RunRow, within?: SQL): Promise<void> {
  const left = await tx.db
    .select({ childRunId: pauses.childRunId })
    .from(pauses)
    .where(and(pausesOf(run), inArray(pauses.childState, ['due', 'started']), within))
  for (const { childRunId } of left)
    if (childRunId) await emit(tx, 'workflow/child.due', { tenantId: run.tenantId, runId: childRunId })
}

async function endWithin(
  tx: Held,
  run: RunRow,
  failure: { code: string; message: string },
  prefix: string,
): Promise<string[]> {
  const now = tx.now()
  const within = (branch: AnyColumn) => (prefix === '' ? undefined : sql`starts_with(${branch}, ${prefix})`)
  await tx.db
    .update(stepRecords)
    .set(failedVisit(failure, now, STOPPED.receipt))
    .where(and(recordsOf(run), isNull(stepRecords.endTime), within(stepRecords.branch)))
  const asked = await tx.db
    .update(pauses)
    .set({ answeredAt: sql`coalesce(${pauses.answeredAt}, ${now.toISOString()}::timestamptz)`, consumedAt: now })
    .where(and(pausesOf(run), isNull(pauses.consumedAt), within(pauses.branch)))
    .returning({ branch: pauses.branch })
  await childrenDue(tx, run, within(pauses.branch))
  // Queued branches have not begun, and there may be very many of them.
  await tx.db.delete(walks).where(and(walksOf(run), eq(walks.status, 'queued'), within(walks.branch)))
  await tx.db
    .update(walks)
    .set({
      status: 'ended',
      epoch: sql`${walks.epoch} + 1`,
      updatedAt: now,
      ...(prefix === '' ? {} : { arrival: null }),
    })
    .where(and(walksOf(run), ne(walks.status, 'ended'), within(walks.branch)))
  return asked.map(({ branch }) => branch)
}
