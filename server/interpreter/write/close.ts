import { outgoing } from '../../outbox'
import type { Held } from '../../run-store/held'
import type { RunRow } from '../../run-store/walk-data'
import type { Ending } from '../flow/types'
import { afterEnd } from './after'
import { changeHeld } from './held'
import { END_RUN, END_WALKS, NOTIFY } from './parts'
import { endingRow } from './rows'

/** Ends a held run. Nothing changes its row after this. */
export async function closeRun(tx: Held, run: RunRow, ending: Ending): Promise<void> {
  const ref = { tenantId: run.tenantId, runId: run.id }
  const event = run.parentRunId === null ? null : outgoing(tx, 'workflow/child.due', ref)
  const change = { parts: [END_RUN, END_WALKS], outputs: [NOTIFY], event, row: endingRow(ending) }
  if (await changeHeld(tx, ref, change)) tx.afterCommit(() => afterEnd(ref, ending))
}
