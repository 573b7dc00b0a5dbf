import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import { AppError } from '../errors'
import { isId } from '../ids'
import { largeRead } from '../large-reads'
import { maskerFrom, tenantMasker } from '../vault/masker'
import { type PresentedRun, presentRun } from './present'
import { readLargeRun, readSmallRun } from './stored-run'

/**
 * The run with its history and open pauses, from one snapshot. A large run is read on separate connections; if the
 * answer would be too large, values are cut and old records left out.
 * @param options.patienceMs how long a large run may wait for those connections
 * @throws AppError RUN_NOT_FOUND, UNAVAILABLE
 */
export async function getRunStatus(
  ctx: ServiceContext,
  { runId }: { runId: string },
  options: { patienceMs?: number } = {},
): Promise<PresentedRun> {
  authorize(ctx, 'run:read')
  if (!isId(runId)) throw new AppError('RUN_NOT_FOUND')
  const small = await readSmallRun(ctx, runId)
  if (small === null) throw new AppError('RUN_NOT_FOUND')
  if (small !== 'large') return presentRun(small.stored, maskerFrom(ctx, small.vault))
  const large = largeRead(ctx, (reading) => readLargeRun(reading, runId), options.patienceMs)
  const [stored, masker] = await Promise.all([large, tenantMasker(ctx)])
  if (!stored) throw new AppError('RUN_NOT_FOUND')
  return presentRun(stored, masker)
}
