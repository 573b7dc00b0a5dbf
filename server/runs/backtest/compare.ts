import { authorize } from '../../auth/policy'
import type { ServiceContext } from '../../context'
import { writtenIds } from '../../definition/expand'
import type { Definition } from '../../definition/schema'
import type { Verdict, WayVisit } from '../../definition/verdict'
import { AppError } from '../../errors'
import { largeRead } from '../../large-reads'
import { parseInput } from '../../parse'
import { findRowAt } from '../../versioned/row-at'
import { WORKFLOW } from '../../workflows/noun'
import { judge } from '../../workflows/replay/judge'
import { readRuns } from '../../workflows/replay/read-facts'
import { asWritten } from './run'
import { BacktestRun } from './schema'
import { findTarget, prepareTrial } from './trial'

type Walked = Pick<WayVisit, 'branch' | 'stepId' | 'exit'>

/** The ways of a run through two versions, to be drawn on both. */
export interface ComparedRun {
  verdict: Verdict
  /** The version that the run had. */
  before: Definition
  was: Walked[]
  now: Walked[]
}

/**
 * The ways of one run through its version and through another saved one. Executes nothing, and stores nothing.
 * @throws AppError WORKFLOW_NOT_FOUND, RUN_NOT_FOUND, VALIDATION_FAILED, INVALID_INPUT; CONFLICT if it is too large
 */
export async function compareRun(
  ctx: ServiceContext,
  { id, body }: { id: string; body: unknown },
  signal: AbortSignal,
): Promise<ComparedRun> {
  authorize(ctx, 'workflow:simulate')
  const { version, runId } = parseInput(BacktestRun, body)
  const target = await findTarget(ctx, id, version)
  const { trial, ownVersion } = await prepareTrial(ctx, target, ALONE, signal)
  const { runs, large } = await largeRead(ctx, (reading) => readRuns(reading, id, [runId]))
  if (large.length > 0) throw new AppError('CONFLICT', { message: 'The run recorded too much to be compared' })
  const [run] = runs
  if (!run) throw new AppError('RUN_NOT_FOUND')
  const [{ version: own }, ways] = await Promise.all([
    findRowAt(ctx, WORKFLOW, id, run.version),
    judge(ctx, run, await ownVersion(run.version), trial),
  ])
  const before = WORKFLOW.contentOf(own)
  return {
    verdict: asWritten(ways.verdict, target.idOf),
    before,
    was: written(ways.was, writtenIds(before)),
    now: written(ways.now, target.idOf),
  }
}

function written(visits: readonly WayVisit[], idOf: (stepId: string) => string): Walked[] {
  return visits.map(({ branch, stepId, exit }) => ({ branch, stepId: idOf(stepId), exit }))
}

const ALONE = { of: 'ended', assume: {}, scripts: true, reveal: false } as const
