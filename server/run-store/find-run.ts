import { runs } from '@/db/schema/runs'
import type { ServiceContext } from '../context'
import { AppError } from '../errors'
import { isId } from '../ids'
import { runIs } from './conditions'

/** @throws AppError RUN_NOT_FOUND, also for a malformed id and for a run the caller may not touch */
export async function getRunRow(ctx: ServiceContext, runId: string, options: { lock?: boolean } = {}) {
  if (!isId(runId)) throw new AppError('RUN_NOT_FOUND')
  const query = ctx.db.select().from(runs).where(runIs(ctx, runId))
  const [row] = await (options.lock ? query.for('update') : query)
  if (!row) throw new AppError('RUN_NOT_FOUND')
  return row
}

/**
 * Checks that the run exists without reading its values, which may be large.
 * @throws AppError RUN_NOT_FOUND, as `getRunRow`
 */
export async function requireRun(ctx: ServiceContext, runId: string): Promise<void> {
  if (!(await hasRun(ctx, runId))) throw new AppError('RUN_NOT_FOUND')
}

/** Whether the run exists and the caller may touch it. */
export async function hasRun(ctx: ServiceContext, runId: string): Promise<boolean> {
  return isId(runId) && (await ctx.db.select({ id: runs.id }).from(runs).where(runIs(ctx, runId))).length > 0
}
