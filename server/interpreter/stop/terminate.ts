import type { TransactionContext } from '../../context'
import type { Cancellation } from '../../definition/run'
import { emit } from '../../outbox'
import type { Held } from '../../run-store/held'
import type { RunRow } from '../../run-store/walk-data'
import { stopFailure } from '../flow/stopping'
import { closeStopped } from './cancel'
import { endOpenWork } from './open-work'

/** Ends a locked, open run immediately: its steps are aborted in every process and their results no longer count. */
export async function terminateNow(tx: Held, run: RunRow, cancellation: Cancellation): Promise<void> {
  await endOpenWork(tx, run, stopFailure(cancellation))
  await closeStopped(tx, { run, written: null }, cancellation)
  await emit(tx, 'workflow/run.terminated', { tenantId: run.tenantId, runId: run.id })
}

/** Records who stops a run, and why. */
export function newCancellation(
  tx: TransactionContext,
  kind: Cancellation['kind'],
  reason: string | null | undefined,
): Cancellation {
  return { kind, reason: reason || null, requestedBy: tx.actor.id, requestedAt: tx.now().toISOString() }
}
