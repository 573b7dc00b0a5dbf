import { and, isNotNull, isNull } from 'drizzle-orm'
import { pauses, stepRecords } from '@/db/schema/runs'
import type { TransactionContext } from '../context'
import type { Receipt } from '../definition/run'
import { pauseIs, recordIs } from '../run-store/conditions'
import { pauseIdOf, type Visit } from '../run-store/names'
import { failed } from './output'
import { cancellationOf, heldBy, STOPPED, settleCancel, stopFailure } from './stop'
import type { WalkState } from './walk-state'

/** Carries out a cancel at a step that waits: for a person, for a time, or for its branches. */
export async function stopAtOpen(tx: TransactionContext, state: WalkState, at: Visit): Promise<Receipt> {
  await tx.db
    .update(stepRecords)
    .set({
      status: 'failed',
      endTime: tx.now(),
      outputData: {},
      ...failed(stopFailure(cancellationOf(state.run))),
      receipt: STOPPED.receipt,
    })
    .where(recordIs({ state, at }))
  // It may have expired, which is not recorded yet.
  await tx.db
    .update(pauses)
    .set({ consumedAt: tx.now() })
    .where(
      and(pauseIs(state.ref, pauseIdOf(state.ref.branch, at)), isNotNull(pauses.answeredAt), isNull(pauses.consumedAt)),
    )
  await settleCancel(tx, heldBy(state), { ref: state.ref, next: null })
  return STOPPED.receipt
}
