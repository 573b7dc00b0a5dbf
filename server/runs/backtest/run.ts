import { authorize } from '../../auth/policy'
import type { ServiceContext } from '../../context'
import { isBranch, shownBranch } from '../../definition/branches'
import { type Assumption, type Needs, type Place, untold, type Verdict } from '../../definition/verdict'
import type { Judged } from '../../definition/verdict-groups'
import { largeRead } from '../../large-reads'
import { parseInput } from '../../parse'
import { reserveTenantSlot, type SlotKind } from '../../tenant-slots'
import { Late } from '../../workflows/replay/drive'
import type { RecordedRun } from '../../workflows/replay/facts'
import { judge } from '../../workflows/replay/judge'
import { readRuns } from '../../workflows/replay/read-facts'
import { type Sample, sampleOf } from './sample'
import { BacktestRuns, BacktestSample } from './schema'
import { findTarget, prepareTrial, type Trying } from './trial'

/** How long one call of the dashboard tries runs. */
const CHUNK_MS = 700
/** Each may compute scripts for seconds. */
const CHUNKS: SlotKind = {
  ...{ name: 'past runs', perTenant: 3, inAll: 24, longestMs: 30_000 },
  refusal: 'Others try past runs; try again shortly.',
}

interface OneWorkflow {
  id: string
  body: unknown
}

/**
 * The past runs of a workflow to try on a saved version, the draft by default.
 * @throws AppError WORKFLOW_NOT_FOUND, VALIDATION_FAILED if it could not run, INVALID_INPUT
 */
export async function backtestSample(
  ctx: ServiceContext,
  { id, body }: OneWorkflow,
): Promise<Sample & { workflowId: string; version: number }> {
  authorize(ctx, 'workflow:simulate')
  const { version: wanted, ...filters } = parseInput(BacktestSample, body)
  const { version } = await findTarget(ctx, id, wanted)
  return { workflowId: id, version, ...(await largeRead(ctx, (reading) => sampleOf(reading, id, filters))) }
}

/**
 * Tries some past runs on a saved version: how would each differ? Executes nothing, and stores nothing.
 * @returns the first of them, in the order given, and the ids of those `left` for which there was no time. Runs that do
 * not exist, or are tests of a part, are omitted.
 * @throws AppError WORKFLOW_NOT_FOUND, VALIDATION_FAILED, INVALID_INPUT; FORBIDDEN with `reveal`; UNAVAILABLE while the
 * tenant has others under way
 */
export async function backtestRuns(
  ctx: ServiceContext,
  { id, body }: OneWorkflow,
  signal: AbortSignal,
): Promise<{ runs: Judged[]; left: string[] }> {
  authorize(ctx, 'workflow:simulate')
  const { version, runIds, ...options } = parseInput(BacktestRuns, body)
  const target = await findTarget(ctx, id, version)
  const trying = await prepareTrial(ctx, target, options, signal)
  const release = reserveTenantSlot(CHUNKS, ctx.tenantId)
  try {
    return await judgeSome(ctx, trying, runIds, performance.now() + CHUNK_MS, signal)
  } finally {
    release()
  }
}

/**
 * Judges runs until a time has come, but at least one, which takes as long as it may.
 * @param runIds at most 50
 */
export async function judgeSome(
  ctx: ServiceContext,
  trying: Trying,
  runIds: readonly string[],
  until: number,
  signal: AbortSignal,
): Promise<{ runs: Judged[]; left: string[] }> {
  const { target } = trying
  const read = await largeRead(ctx, (reading) => readRuns(reading, target.id, runIds))
  const judged: Judged[] = read.large.map(({ id, startTime }) => ({
    runId: id,
    startTime,
    verdict: untold({ why: 'too large' }),
  }))
  const left = new Set(read.left)
  for (const [nth, run] of read.runs.entries()) {
    signal.throwIfAborted()
    const verdict = await judgedBy(ctx, trying, run, nth > 0 ? until : Number.POSITIVE_INFINITY)
    if (!verdict) {
      for (const { id } of read.runs.slice(nth)) left.add(id)
      break
    }
    judged.push({ runId: run.id, startTime: run.startTime, verdict: asWritten(verdict, target.idOf) })
  }
  const order = new Map(runIds.map((id, at) => [id, at]))
  const rank = ({ runId }: Judged) => order.get(runId) ?? 0
  return { runs: judged.toSorted((a, b) => rank(a) - rank(b)), left: runIds.filter((id) => left.has(id)) }
}

/** @returns null if there is no time left for it */
async function judgedBy(
  ctx: ServiceContext,
  { trial, ownVersion }: Trying,
  run: RecordedRun,
  until: number,
): Promise<Verdict | null> {
  if (performance.now() > until) return null
  try {
    return (await judge(ctx, run, await ownVersion(run.version), trial, until)).verdict
  } catch (err) {
    if (err instanceof Late) return null
    throw err
  }
}

/** With the ids of steps as in the written definition, and branches as people read them. */
export function asWritten(verdict: Verdict, idOf: (stepId: string) => string): Verdict {
  const ids = (steps: string[]) => [...new Set(steps.map(idOf))]
  const id = <T extends string | null>(stepId: T) => (stepId === null ? null : idOf(stepId))
  const place = (at: Place): Place => ({
    branch: isBranch(at.branch) ? shownBranch(at.branch) : at.branch,
    stepId: idOf(at.stepId),
    visit: at.visit,
  })
  const calls = { new: ids(verdict.calls.new), gone: ids(verdict.calls.gone), changed: ids(verdict.calls.changed) }
  const assumed = verdict.assumed.map((one): Assumption => ({ ...one, place: place(one.place) }))
  const needs = (of: Needs): Needs => ('place' in of ? { ...of, place: place(of.place) } : of)
  switch (verdict.is) {
    case 'way': {
      const left = <L extends { next: string | null }>(to: L) => ({ ...to, next: id(to.next) })
      return { ...verdict, at: place(verdict.at), was: left(verdict.was), now: left(verdict.now), calls, assumed }
    }
    case 'fails':
    case 'passes':
      return { ...verdict, at: id(verdict.at), calls, assumed }
    case 'untold':
      return { ...verdict, needs: needs(verdict.needs), calls, assumed }
    default:
      return { ...verdict, calls, assumed }
  }
}
