import { processWide } from '@/db/process-wide'
import { authorize } from '../../auth/policy'
import type { ServiceContext } from '../../context'
import { type Counts, countsOf, type Group, groupsOf, type Judged } from '../../definition/verdict-groups'
import { AppError } from '../../errors'
import { largeRead } from '../../large-reads'
import { parseInput } from '../../parse'
import { judgeSome } from './run'
import { NEWEST_OF, type Sample, sampleOf } from './sample'
import { BacktestWorkflow, MAX_CHUNK } from './schema'
import { findTarget, prepareTrial } from './trial'

/** Platforms end requests that take longer. */
const LONGEST_MS = 25_000

export interface Backtest {
  workflowId: string
  version: number
  sampled: Sample['sampled']
  counts: Counts
  groups: Group[]
  /** The verdicts on each run, if they were asked for. */
  runs?: Judged[]
  /** Whether the time was over before all runs were tried. */
  truncated: boolean
}

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
  const done = beginIn(ctx.tenantId)
  try {
    const until = performance.now() + LONGEST_MS
    const target = await findTarget(ctx, id, wanted)
    const trying = await prepareTrial(ctx, target, { of: filters.of, assume, scripts, reveal }, signal)
    const sample = runIds ? given(runIds) : await largeRead(ctx, (reading) => sampleOf(reading, target.id, filters))
    const judged: Judged[] = []
    const standsFor = new Map(sample.runs.map((run) => [run.id, run.standsFor]))
    let left = [...standsFor.keys()]
    while (left.length > 0 && performance.now() < until) {
      const some = await judgeSome(ctx, trying, left.slice(0, MAX_CHUNK), until, signal)
      judged.push(...some.runs)
      left = [...some.left, ...left.slice(MAX_CHUNK)]
    }
    if (runIds && left.length === 0) requireAll(runIds, judged)
    return {
      ...{ workflowId: target.id, version: target.version, sampled: sample.sampled, counts: countsOf(judged) },
      groups: groupsOf(judged, (runId) => standsFor.get(runId) ?? 1),
      ...(each ? { runs: judged } : {}),
      truncated: left.length > 0,
    }
  } finally {
    done()
  }
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

const underWay = () => processWide('backtests', () => new Set<string>())

/** @throws AppError RATE_LIMITED */
function beginIn(tenantId: string): () => void {
  const tenants = underWay()
  if (tenants.has(tenantId)) {
    const details = [{ message: 'Another backtest of this workspace is under way.' }]
    throw new AppError('RATE_LIMITED', { details, headers: { 'retry-after': '5' } })
  }
  tenants.add(tenantId)
  return () => tenants.delete(tenantId)
}
