import { count } from '../../measures'
import { outgoing } from '../../outbox'
import type { Held } from '../../run-store/held'
import type { RunRow } from '../../run-store/walk-data'
import type { Ending } from '../flow/types'
import { noteNews } from '../notice/heard'
import { stopWorkOf } from '../notice/running'
import { changeHeld } from './held'
import { END_RUN, END_WALKS, NOTIFY } from './parts'
import { endingRow } from './rows'

/** Ends a held run. Nothing changes its row after this. */
export async function closeRun(tx: Held, run: RunRow, ending: Ending): Promise<void> {
  const ref = { tenantId: run.tenantId, runId: run.id }
  tx.afterCommit(() => stopLocalWork(ref))
  const event = run.parentRunId === null ? null : outgoing(tx, 'workflow/child.due', ref)
  const change = { parts: [END_RUN, END_WALKS], outputs: [NOTIFY], event, row: endingRow(ending) }
  if (await changeHeld(tx, ref, change))
    tx.afterCommit(() => count('millrace_runs_ended_total', { outcome: ending.outcome }))
}

/**
 * Call once the end of a run is committed: this process starts nothing more of the run, and stops what it is still
 * doing for it.
 */
export function stopLocalWork(ref: { tenantId: string; runId: string }): void {
  noteNews(ref.runId)
  stopWorkOf(ref)
}
