import { and, inArray, type SQL } from 'drizzle-orm'
import { pauses } from '@/db/schema/runs'
import { emit } from '../../outbox'
import { pausesOf } from '../../run-store/conditions'
import type { Held } from '../../run-store/held'
import type { RunRow } from '../../run-store/walk-data'
import { announceRun } from '../notice/announce'
import { settleStatus } from '../write/settle-status'
import { closePauses, endVisits, endWalks, within } from '../write/stops'

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

/** Settles the child runs that steps of this run started or are about to start: nothing waits for them any more. */
export async function childrenDue(tx: Held, run: RunRow, where?: SQL): Promise<void> {
  const left = await tx.db
    .select({ childRunId: pauses.childRunId })
    .from(pauses)
    .where(and(pausesOf(run), inArray(pauses.childState, ['due', 'started']), where))
  for (const { childRunId } of left)
    if (childRunId) await emit(tx, 'workflow/child.due', { tenantId: run.tenantId, runId: childRunId })
}

async function endWithin(
  tx: Held,
  run: RunRow,
  failure: { code: string; message: string },
  prefix: string,
): Promise<string[]> {
  await endVisits(tx, run, failure, prefix)
  const waited = await closePauses(tx, run, prefix)
  await childrenDue(tx, run, within(pauses.branch, prefix))
  await endWalks(tx, run, prefix)
  return waited
}
