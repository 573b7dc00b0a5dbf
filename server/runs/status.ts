import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import { AppError } from '../errors'
import { isId } from '../ids'
import { expectedChange } from '../interpreter/changes'
import { largeRead } from '../large-reads'
import { maskerFrom, tenantMasker } from '../vault/masker'
import { type PresentedRun, presentRun, type StoredRun } from './present'
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
  await expectedChange(runId)
  const run = isId(runId)
    ? await readRun(ctx, runId, () => largeRead(ctx, (reading) => readLargeRun(reading, runId), options.patienceMs))
    : null
  if (!run) throw new AppError('RUN_NOT_FOUND')
  return run
}

/**
 * The same for a caller that has been authorized.
 * @param readLarge reads a run that is too large for the shared connections
 * @returns null for an unknown run
 */
export async function readRun(
  ctx: ServiceContext,
  runId: string,
  readLarge: () => Promise<StoredRun | null>,
): Promise<PresentedRun | null> {
  const small = await readSmallRun(ctx, runId)
  if (small === null) return null
  if (small !== 'large') return presentRun(small.stored, maskerFrom(ctx, small.vault))
  const [stored, masker] = await Promise.all([readLarge(), tenantMasker(ctx)])
  return stored && presentRun(stored, masker)
}
