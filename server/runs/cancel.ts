import { authorize } from '../auth/policy'
import { type ServiceContext, withTransaction } from '../context'
import { askToCancel, newCancellation } from '../interpreter/index'
import { parseInput } from '../parse'
import { getRunRow } from '../run-store/find-run'
import { StopRun } from './schema'
import { holdRunToStop, presentStop, recordStop } from './stop'

/**
 * Asks a run to stop. A running step may finish within the grace period, then the `onCancel` path runs, then the run
 * closes. If nothing is running and no such path exists, it closes here. Asking again changes nothing.
 * @throws AppError RUN_NOT_FOUND, RUN_ALREADY_ENDED, INVALID_INPUT
 */
export async function cancelRun(ctx: ServiceContext, input: unknown) {
  authorize(ctx, 'run:cancel')
  const request = parseInput(StopRun, input)
  return withTransaction(ctx, async (tx) => {
    const { held, run } = await holdRunToStop(tx, request)
    if (run.endTime || run.cancelRequestedAt) return presentStop(tx, run)
    await askToCancel(held, run, newCancellation(tx, 'cancel', request.reason))
    await recordStop(tx, 'run.cancelled', run, request.reason)
    return presentStop(tx, await getRunRow(tx, run.id))
  })
}
