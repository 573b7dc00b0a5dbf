import { authorize } from '../auth/policy'
import { type ServiceContext, withTransaction } from '../context'
import { newCancellation, terminateNow } from '../interpreter/index'
import { parseInput } from '../parse'
import { getRunRow } from '../run-store/find-run'
import { StopRun } from './schema'
import { holdRunToStop, presentStop, recordStop } from './stop'

/**
 * Ends a run immediately, without cleanup. Its running steps are aborted in every process and their results no longer
 * count. Also ends a run that is being cancelled.
 * @throws AppError RUN_NOT_FOUND, RUN_ALREADY_ENDED, INVALID_INPUT
 */
export async function terminateRun(ctx: ServiceContext, input: unknown) {
  authorize(ctx, 'run:terminate')
  const request = parseInput(StopRun, input)
  return withTransaction(ctx, async (tx) => {
    const { held, run } = await holdRunToStop(tx, request)
    if (run.endTime) return presentStop(tx, run)
    await terminateNow(held, run, newCancellation(tx, 'terminate', request.reason))
    await recordStop(tx, 'run.terminated', run, request.reason)
    return presentStop(tx, await getRunRow(tx, run.id))
  })
}
