import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import type { JsonObject } from '../definition/json'
import { largeRead } from '../large-reads'
import { parseInput } from '../parse'
import { LONGEST_MS, oneAtATime } from '../runs/backtest/budget'
import { sampleOf } from '../runs/backtest/sample'
import { prepareTrial, type Target } from '../runs/backtest/trial'
import { type Backtest, TriedSample } from '../runs/backtest/tried-sample'
import { refuseProblems } from './apply'
import { rolledBack } from './rolled-back'
import { TryDefinitions, type TryOptions } from './schema'
import { targetsOf, type Untried } from './trial-targets'

export interface DefinitionsBacktest {
  /** Of each workflow that changes or whose tools, agents or workflows do. */
  workflows: (Backtest & { name: string })[]
  untried: Untried[]
  /** How many workflows of the body stay as they are. */
  unchanged: number
  /** Whether the time was over before all runs were tried. */
  truncated: boolean
}

/**
 * Tries past runs on what an apply of the same body would make of their workflows. The apply is rolled back before any
 * run is tried, so no run is read under its locks. Executes nothing, and stores nothing.
 * @throws AppError INVALID_INPUT, VALIDATION_FAILED where an apply would be; RATE_LIMITED while the tenant has another
 * backtest under way
 */
export async function backtestDefinitions(
  ctx: ServiceContext,
  input: JsonObject,
  signal: AbortSignal,
): Promise<DefinitionsBacktest> {
  authorize(ctx, 'definitions:check')
  const { runs, scripts, reveal, ...body } = input
  const options = parseInput(TryDefinitions, { runs, scripts, reveal })
  if (options.reveal) authorize(ctx, 'run:reveal')
  return oneAtATime(ctx.tenantId, async () => {
    const { targets, untried, unchanged } = await rolledBack(ctx, body, async (tx, outcome, applying) => {
      refuseProblems(outcome.problems)
      return targetsOf(tx, outcome, applying)
    })
    const tried = await tryAll(ctx, targets, options, signal)
    const notBegun = targets.slice(tried.length)
    return {
      workflows: tried.map(({ target: { name }, sample }) => ({ name, ...sample.answer() })),
      untried: [...untried, ...notBegun.map(({ id, name }) => ({ workflowId: id, name, why: 'time' as const }))],
      unchanged,
      truncated: notBegun.length > 0 || tried.some(({ sample }) => !sample.isDone),
    }
  })
}

/** Tries a few runs of each workflow in turn until the time is over, so that none waits for all runs of another. */
async function tryAll(ctx: ServiceContext, targets: readonly Target[], options: TryOptions, signal: AbortSignal) {
  const until = performance.now() + LONGEST_MS
  const tried: { target: Target; sample: TriedSample }[] = []
  for (const target of targets) {
    if (performance.now() >= until) return tried
    const sample = await sampleFor(ctx, target, options, signal)
    tried.push({ target, sample })
    if (!sample.isDone) await sample.goOn(ctx, until, signal)
  }
  for (let left = tried; left.length > 0 && performance.now() < until; ) {
    left = left.filter(({ sample }) => !sample.isDone)
    for (const { sample } of left) if (performance.now() < until) await sample.goOn(ctx, until, signal)
  }
  return tried
}

async function sampleFor(
  ctx: ServiceContext,
  target: Target,
  { runs, scripts, reveal }: TryOptions,
  signal: AbortSignal,
): Promise<TriedSample> {
  const trying = await prepareTrial(ctx, target, { of: 'ended', assume: {}, scripts, reveal }, signal)
  return new TriedSample(trying, await largeRead(ctx, (reading) => sampleOf(reading, target.id, { of: 'ended', runs })))
}
