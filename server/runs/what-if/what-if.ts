import { and, eq } from 'drizzle-orm'
import { runs } from '@/db/schema/runs'
import { authorize } from '../../auth/policy'
import type { ServiceContext } from '../../context'
import { writtenIds } from '../../definition/expand'
import { untold, type Verdict } from '../../definition/verdict'
import { AppError } from '../../errors'
import { isId } from '../../ids'
import { largeRead } from '../../large-reads'
import { parseInput } from '../../parse'
import { pinnedDefinition } from '../../run-store/definition'
import { reserveTenantSlot, type SlotKind } from '../../tenant-slots'
import type { Masker } from '../../vault/mask'
import { findRowAt } from '../../versioned/row-at'
import { WORKFLOW } from '../../workflows/noun'
import { BothVersions } from '../../workflows/replay/as-recorded'
import { Late } from '../../workflows/replay/drive'
import type { RecordedRun } from '../../workflows/replay/facts'
import { type JudgedWalk, judge } from '../../workflows/replay/judge'
import { readRuns } from '../../workflows/replay/read-facts'
import { voterOf } from '../../workflows/replay/typed'
import { asWritten } from '../backtest/run'
import { findTarget, prepareTrial, type Target } from '../backtest/trial'
import { changedBy, checkChanges, saidBy } from './said'
import { type Changes, WhatIf } from './schema'
import { type Ways, waysOf } from './ways'

/** More of a tenant's processor's time goes to others. A screen asks again with each change. */
const MAX_MS = 5_000
const WHAT_IFS: SlotKind = {
  ...{ name: 'what-ifs', perTenant: 4, inAll: 24, longestMs: 30_000 },
  refusal: 'Others try changes on runs; try again shortly.',
}

export interface WhatIfAnswer extends Ways {
  runId: string
  workflowId: string
  /** The version of the run, and the one that it was tried on. */
  runVersion: number
  version: number
  verdict: Verdict
}

/**
 * How a run would go on a saved version, its own by default, with changed values: both ways, and how they differ.
 * Executes only scripts that compute, and stores nothing.
 * @throws AppError RUN_NOT_FOUND, WORKFLOW_NOT_FOUND if it has no such version, VALIDATION_FAILED if that could not run,
 * INVALID_INPUT, also for a run of a part of its workflow; FORBIDDEN; UNAVAILABLE while others of the tenant are under way
 */
export async function whatIf(
  ctx: ServiceContext,
  { runId, body }: { runId: string; body: unknown },
  signal: AbortSignal,
): Promise<WhatIfAnswer> {
  authorize(ctx, 'workflow:simulate')
  const { version: wanted, changes, reveal } = parseInput(WhatIf, body)
  const run = await findRun(ctx, runId)
  const release = reserveTenantSlot(WHAT_IFS, ctx.tenantId)
  try {
    const own = await ownTarget(ctx, run)
    const target = wanted === 'own' || wanted === run.version ? own : await findTarget(ctx, run.workflowId, wanted)
    checkChanges(changes, target)
    const { judged, vault } = await follow(ctx, { runId, target, changes, reveal }, signal)
    return {
      ...{ runId, workflowId: run.workflowId, runVersion: run.version, version: target.version },
      verdict: asWritten(judged.verdict, target.idOf),
      ...waysOf(judged, changes, { was: own.idOf, now: target.idOf, vault }),
    }
  } finally {
    release()
  }
}

interface Wanted {
  runId: string
  target: Target
  changes: Changes
  reveal: boolean
}

async function follow(
  ctx: ServiceContext,
  { runId, target, changes, reveal }: Wanted,
  signal: AbortSignal,
): Promise<{ judged: JudgedWalk; vault: Masker }> {
  const options = { of: 'ended', assume: {}, scripts: true, reveal, runId } as const
  const { trial, ownVersion } = await prepareTrial(ctx, target, options, signal)
  const found = await readRecorded(ctx, target.id, runId)
  const { vault } = trial
  if (!found) return { judged: notFollowed([], 'too large'), vault }
  const own = await ownVersion(found.version)
  const { definition, idOf } = target
  const both = new BothVersions(own.definition, definition, changedBy(changes, definition, idOf))
  const voter = voterOf(ctx)
  const tried = { ...trial, said: (unknowns: Parameters<typeof saidBy>[3]) => saidBy(changes, idOf, voter, unknowns) }
  const judged = await judge(ctx, found, { ...own, both }, tried, performance.now() + MAX_MS).catch((err: unknown) => {
    if (err instanceof Late) return notFollowed(found.way.visits, 'too long')
    throw err
  })
  return { judged, vault }
}

function notFollowed(was: JudgedWalk['was'], why: 'too large' | 'too long'): JudgedWalk {
  return { verdict: untold({ why }), was, now: [], walked: null }
}

/** @returns null if it recorded too much */
async function readRecorded(ctx: ServiceContext, workflowId: string, runId: string): Promise<RecordedRun | null> {
  const { runs, large } = await largeRead(ctx, (reading) => readRuns(reading, workflowId, [runId]))
  if (large.length > 0) return null
  const [found] = runs
  if (!found) throw new AppError('RUN_NOT_FOUND')
  return found
}

/** @throws AppError RUN_NOT_FOUND, INVALID_INPUT for a run of a part of its workflow */
async function findRun(ctx: ServiceContext, runId: string) {
  if (!isId(runId)) throw new AppError('RUN_NOT_FOUND')
  const [run] = await ctx.db
    .select({ workflowId: runs.workflowId, version: runs.workflowVersion, part: runs.part })
    .from(runs)
    .where(and(eq(runs.tenantId, ctx.tenantId), eq(runs.id, runId)))
  if (!run) throw new AppError('RUN_NOT_FOUND')
  if (run.part !== null)
    throw new AppError('INVALID_INPUT', { details: [{ path: 'runId', message: 'is a run of a part of its workflow' }] })
  return run
}

/** The version that a run has, also if it could not be published any more. */
async function ownTarget(
  ctx: ServiceContext,
  { workflowId, version }: { workflowId: string; version: number },
): Promise<Target> {
  const [{ row, version: stored }, definition] = await Promise.all([
    findRowAt(ctx, WORKFLOW, workflowId, version),
    pinnedDefinition(ctx, workflowId, version),
  ])
  return { id: row.id, name: row.name, version, definition, idOf: writtenIds(WORKFLOW.contentOf(stored)) }
}
