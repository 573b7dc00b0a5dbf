import { verifyCaller } from '../auth/cached-caller'
import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import { AppError } from '../errors'
import { isId } from '../ids'
import { awaitEnd, expectedChange, stopAwaiting } from '../interpreter/index'
import { largeRead } from '../large-reads'
import type { Masker } from '../vault/mask'
import { maskerFrom, tenantMasker } from '../vault/masker'
import { type PresentedRun, presentRun, type StoredRun } from './present'
import { rememberedRun } from './remembered'
import { callerMasker } from './run-masker'
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
  const change = expectedChange(runId)
  const readLarge = () => largeRead(ctx, (reading) => readLargeRun(reading, runId), options.patienceMs)
  const run = isId(runId)
    ? ((change && (await runAfter(ctx, runId, change))) ?? (await readRun(ctx, runId, readLarge)))
    : null
  if (!run) throw new AppError('RUN_NOT_FOUND')
  return run
}

/**
 * The same for a caller that was already authorized.
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
  if (small !== 'large') return presentForCaller(ctx, small.stored, maskerFrom(ctx, small.vault))
  const [stored, vault] = await Promise.all([readLarge(), tenantMasker(ctx)])
  return stored && presentForCaller(ctx, stored, vault)
}

/** A run as the caller may see it. */
export async function presentForCaller(ctx: ServiceContext, stored: StoredRun, vault: Masker): Promise<PresentedRun> {
  return presentRun(stored, await callerMasker(ctx, stored.run, vault))
}

/**
 * Waits for the change that this process expects of a run.
 * @returns the run if the change ended it and this process has written all of it; otherwise it must be read
 */
async function runAfter(ctx: ServiceContext, runId: string, change: Promise<void>): Promise<PresentedRun | null> {
  if (!awaitEnd(ctx.tenantId, runId)) return change.then(() => null)
  try {
    await Promise.all([verifyCaller(ctx), change])
    return rememberedRun(ctx, runId)
  } finally {
    stopAwaiting(runId)
  }
}
