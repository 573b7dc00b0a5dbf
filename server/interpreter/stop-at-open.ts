import { and, isNotNull, isNull } from 'drizzle-orm'
import { pauses, stepRecords } from '@/db/schema/runs'
import type { TransactionContext } from '../context'
import type { Receipt } from '../definition/run'
import { failed } from './output'
import { type Place, recordIs } from './place'
import { pauseIdOf, type Visit } from './receipt'
import { pauseIs } from './row-is'
import { cancellationOf, heldBy, STOPPED, settleCancel, stopFailure } from './stop'

/** Carries out a cancel at a step that waits: for a person, for a time, or for its branches. */
export async function stopAtOpen(tx: TransactionContext, place: Place, at: Visit): Promise<Receipt> {
  await tx.db
    .update(stepRecords)
    .set({
      status: 'failed',
      endTime: tx.now(),
      outputData: {},
      ...failed(stopFailure(cancellationOf(place.run))),
      receipt: STOPPED.receipt,
    })
    .where(recordIs({ place, at }))
  // Its time may have been up, which was not taken yet.
  await tx.db
    .update(pauses)
    .set({ consumedAt: tx.now() })
    .where(
      and(pauseIs(place.ref, pauseIdOf(place.ref.branch, at)), isNotNull(pauses.answeredAt), isNull(pauses.consumedAt)),
    )
  await settleCancel(tx, heldBy(place), { ref: place.ref, next: null })
  return STOPPED.receipt
}
