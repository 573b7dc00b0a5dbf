import { authorize } from '../../auth/policy'
import type { ServiceContext } from '../../context'
import type { Judged } from '../../definition/verdict-groups'
import { AppError } from '../../errors'
import { largeRead } from '../../large-reads'
import { parseInput } from '../../parse'
import { LONGEST_MS, oneAtATime } from './budget'
import { NEWEST_OF, type Sample, sampleOf } from './sample'
import { BacktestWorkflow } from './schema'
import { findTarget, prepareTrial } from './trial'
import { type Backtest, TriedSample } from './tried-sample'

/**
 * Tries past runs of a workflow on a saved version, the draft by default: how would they differ? Executes nothing, and
 * stores nothing.
 * @throws AppError WORKFLOW_NOT_FOUND, VALIDATION_FAILED if it could not run, INVALID_INPUT; RATE_LIMITED while the
 * tenant has another one under way
 */
export async function backtestWorkflow(
  ctx: ServiceContext,
  { id, body }: { id: string; body: unknown },
  signal: AbortSignal,
): Promise<Backtest> {
  authorize(ctx, 'workflow:simulate')
  const { version: wanted, runIds, each, assume, scripts, reveal, ...filters } = parseInput(BacktestWorkflow, body)
  return oneAtATime(ctx.tenantId, async () => {
    const until = performance.now() + LONGEST_MS
    const target = await findTarget(ctx, id, wanted)
    const trying = await prepareTrial(ctx, target, { of: filters.of, assume, scripts, reveal }, signal)
    const sample = runIds ? given(runIds) : await largeRead(ctx, (reading) => sampleOf(reading, target.id, filters))
    const tried = new TriedSample(trying, sample)
    while (!tried.isDone && performance.now() < until) await tried.goOn(ctx, until, signal)
    if (runIds && tried.isDone) requireAll(runIds, tried.judged)
    return { ...tried.answer(), ...(each ? { runs: tried.judged } : {}) }
  })
}

/** Runs that the caller has named. */
function given(runIds: readonly string[]): Sample {
  const ids = [...new Set(runIds)]
  const sampled = { runs: ids.length, of: ids.length, newestOf: NEWEST_OF, strata: 1 }
  return { sampled, runs: ids.map((id) => ({ id, standsFor: 1 })) }
}

/** @throws AppError INVALID_INPUT */
function requireAll(runIds: readonly string[], judged: readonly Judged[]): void {
  const found = new Set(judged.map(({ runId }) => runId))
  const details = runIds.flatMap((id, at) =>
    found.has(id) ? [] : [{ path: `runIds[${at}]`, message: 'is not a whole run of this workflow' }],
  )
  if (details.length > 0) throw new AppError('INVALID_INPUT', { details })
}
