import { and, eq, ne, sql } from 'drizzle-orm'
import { runs, walks } from '@/db/schema/runs'
import type { TransactionContext } from '../../context'
import { count } from '../../measures'
import { emit } from '../../outbox'
import { dataColumns } from '../../run-store/run-data'
import type { Ending } from '../flow/types'
import { announceRun } from '../notice/announce'
import { noteNews } from '../notice/heard'
import { stopWorkOf } from '../notice/running'

/** Ends a run whose row is locked. Nothing changes the row after this. */
export async function closeRun(
  tx: TransactionContext,
  ref: { tenantId: string; runId: string },
  ending: Ending,
): Promise<void> {
  const now = tx.now()
  tx.afterCommit(() => stopLocalWork(ref))
  const run = tx.db
    .update(runs)
    .set({
      status: ending.status,
      outcome: ending.outcome,
      ...(ending.written ? dataColumns(ending.written) : {}),
      ...(ending.status === 'completed' ? { result: ending.result } : failureColumns(ending)),
      ...(ending.stepId === null ? {} : { currentStepId: ending.stepId }),
      endTime: now,
      updatedAt: now,
    })
    .where(and(eq(runs.tenantId, ref.tenantId), eq(runs.id, ref.runId), sql`${runs.endTime} is null`))
    .returning({ parentRunId: runs.parentRunId })
  const ended = tx.db
    .update(walks)
    .set({ status: 'ended', updatedAt: now })
    .where(and(eq(walks.tenantId, ref.tenantId), eq(walks.runId, ref.runId), ne(walks.status, 'ended')))
  const [[closed]] = await Promise.all([run, ended, announceRun(tx, ref.runId)])
  if (closed) tx.afterCommit(() => count('millrace_runs_ended_total', { outcome: ending.outcome }))
  if (closed?.parentRunId) await emit(tx, 'workflow/child.due', { tenantId: ref.tenantId, runId: ref.runId })
}

/**
 * Call once the end of a run is committed: this process starts nothing more of the run, and stops what it is still
 * doing for it.
 */
export function stopLocalWork(ref: { tenantId: string; runId: string }): void {
  noteNews(ref.runId)
  stopWorkOf(ref)
}

function failureColumns({ error, cancellation }: Extract<Ending, { status: 'failed' }>) {
  return cancellation ? { error, cancellation } : { error }
}
